package webhooks_test

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// enum returns the enum values in a field's tag.
func enum(t *testing.T, of any, field string) []string {
	t.Helper()
	f, ok := reflect.TypeOf(of).FieldByName(field)
	if !ok {
		t.Fatalf("%T has no %s", of, field)
	}
	return sorted(strings.Split(f.Tag.Get("enum"), ","))
}

func sorted(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return all
}

func TestEveryEnumOfTheAnswersIsWhatMayBeStored(t *testing.T) {
	t.Parallel()
	conn := testkit.Pgx(t, testkit.DB(t).URL)
	stored := func(constraint string) []string {
		t.Helper()
		var text string
		if err := conn.QueryRow(t.Context(),
			"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = $1 AND conparentid = 0", constraint).
			Scan(&text); err != nil {
			t.Fatalf("%s: %v", constraint, err)
		}
		var values []string
		for _, m := range regexp.MustCompile(`'([^']*)'::text`).FindAllStringSubmatch(text, -1) {
			values = append(values, m[1])
		}
		return sorted(values)
	}
	triggers := []string{webhooks.ByEvent, webhooks.ByTest, webhooks.ByRedelivery, webhooks.ByReplay}
	var statuses []string
	for _, s := range []webhooks.Status{
		webhooks.Pending, webhooks.Delivered, webhooks.Failed, webhooks.Exhausted, webhooks.Discarded,
	} {
		statuses = append(statuses, string(s))
	}
	for name, c := range map[string]struct{ told, want []string }{
		"a delivery's trigger": {enum(t, webhooks.Delivery{}, "Trigger"), stored("webhook_delivery_trigger_check")},
		"a delivery's status":  {enum(t, webhooks.Delivery{}, "Status"), stored("webhook_delivery_status_check")},
		"a replay's status": {
			enum(t, webhooks.Replay{}, "Status"),
			sorted(append(stored("webhook_replay_status_check"), "preview")),
		},
		"the code's triggers": {sorted(triggers), stored("webhook_delivery_trigger_check")},
		"the code's statuses": {sorted(statuses), stored("webhook_delivery_status_check")},
		"an attempt's trigger": {
			enum(t, webhooks.DeliveryAttempt{}, "Trigger"), sorted(append(triggers, webhooks.ByProbe)),
		},
	} {
		if !slices.Equal(c.told, c.want) {
			t.Errorf("%s: told %q, want %q", name, c.told, c.want)
		}
	}
	word := func(where any, field, value string) {
		t.Helper()
		f, _ := reflect.TypeOf(where).FieldByName(field)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		doc := cmp.Or(f.Tag.Get("doc"), wire.DescriptionsOf(reflect.TypeOf(where))[name])
		if !regexp.MustCompile(`\b` + value + `\b`).MatchString(doc) {
			t.Errorf("no word of %q in what is told of %T's %s: %s", value, where, field, doc)
		}
	}
	for _, reason := range stored("webhook_endpoint_disabled_reason_check") {
		word(events.Webhook{}, "DisabledReason", reason)
	}
	classes := []string{webhooks.Refused, webhooks.Redirected, webhooks.Gone, webhooks.Interrupted}
	for _, c := range []outbound.Class{
		outbound.Blocked, outbound.DNS, outbound.Connect, outbound.TLS, outbound.Timeout, outbound.Closed,
		outbound.Protocol,
	} {
		classes = append(classes, string(c))
		if (&outbound.Failure{Class: c}).Sentence() == "" {
			t.Errorf("%s has no sentence", c)
		}
	}
	for _, c := range classes {
		word(webhooks.DeliveryAttempt{}, "ErrorClass", c)
	}
}

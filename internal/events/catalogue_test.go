package events_test

import (
	"encoding/json"
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/eventstest"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestEveryTypeIsNamedObjectDotPastTenseAndSaysWhenItFires(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range events.Catalogue() {
		if !regexp.MustCompile(`^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$`).MatchString(e.Name) {
			t.Errorf("%q is not an object and a verb in the past tense", e.Name)
		}
		if strings.HasSuffix(e.Name, ".deleted") {
			t.Errorf("%q speaks of a deletion", e.Name)
		}
		if e.Description == "" {
			t.Errorf("%q has no description", e.Name)
		}
		if seen[e.Name] {
			t.Errorf("%q is listed twice", e.Name)
		}
		seen[e.Name] = true
	}
	for _, named := range []string{
		"contact.created", "deal.won", "email.opened", "sequence.replied", "plan.changed", // required by the interface
		"contact.archived", "social_account.connected", "social_account.reauth_required", "webhook.disabled",
		"brand.updated",
	} {
		if !seen[named] {
			t.Errorf("%s is missing", named)
		}
	}
	if len(seen) <= 30 {
		t.Errorf("%d types; more than 30 are promised", len(seen))
	}
}

func TestEverySampleMeetsItsSchema(t *testing.T) {
	t.Parallel()
	for _, e := range events.Catalogue() {
		s, err := e.Sample(id.New(), id.New(), wire.Now())
		if err != nil {
			t.Fatal(err)
		}
		eventstest.Check(t, s.Bytes())
	}
}

func TestTheCheckOfPayloadsSeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	e, _ := events.Lookup("contact.created")
	s, err := e.Example()
	if err != nil {
		t.Fatal(err)
	}
	good := string(s.Bytes())
	if err := eventstest.Violation([]byte(good)); err != nil {
		t.Fatalf("a sample is refused: %v", err)
	}
	for from, to := range map[string]string{
		`"email":"ada@example.com",`:   ``,                         // missing
		`"lead_score":42.17`:           `"lead_score":"42.17"`,     // of another type
		`"stage":"lead"`:               `"stage":null`,             // not nullable
		`"tag":["newsletter"]`:         `"tag":null`,               // not nullable
		`"confidence":"prior"`:         `"confidence":"certain"`,   // not in the enum
		`"email":"ada@example.com"`:    `"email":"a","surprise":1`, // undeclared
		`"previous":null`:              `"previous":{"stage":"x"}`, // must be null for a creation
		`"type":"contact.created"`:     `"type":"contact.exploded"`,
		`"created_at":"2026-01-15T09:`: `"created_at":"yesterday `,
	} {
		bad := strings.Replace(good, from, to, 1)
		if bad == good {
			t.Errorf("%s is not in the sample", from)
		}
		if eventstest.Violation([]byte(bad)) == nil {
			t.Errorf("%s instead of %s passes", to, from)
		}
	}
}

func TestAnEnvelopeHasExactlyTheMembersOfTheContractInOrder(t *testing.T) {
	t.Parallel()
	org, event := id.New(), id.New()
	s := events.Stored{
		OrgID: org, ID: event, Seq: 7, Type: "contact.created", ActorType: "user", ActorID: "u",
		RequestID: "r", Data: json.RawMessage(`{"object":{"x":"<&>"},"previous":null}`),
	}
	if err := s.CreatedAt.UnmarshalText([]byte("2026-11-21T10:00:00.5Z")); err != nil {
		t.Fatal(err)
	}
	want := `{"id":"` + event.String() +
		`","type":"contact.created","api_version":"v1","created_at":"2026-11-21T10:00:00.500000Z","org_id":"` +
		org.String() +
		`","seq":7,"actor":{"type":"user","id":"u"},"request_id":"r","data":{"object":{"x":"<&>"},"previous":null}}`
	if got := string(s.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.ActorType, s.ActorID, s.RequestID = "system", "", ""
	if got := string(s.Bytes()); !strings.Contains(got, `"actor":{"type":"system","id":null},"request_id":null`) {
		t.Errorf("empty actor and request: %s", got)
	}
}

package platformretention_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/jobs/platformretention"
)

func TestEventsAreRaisedToTheDaysOfTheirDeliveries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ events, deliveries, want string }{
		{"", "", ""},
		{"", "31", ""},
		{"60", "", "60"},
		{"60,free=31", "31", "60,free=31"},
		{"90,free=60", "60,solo_pro=31", "90,free=60"},
		{"", "60", "60"},
		{"", "31,agency_scale=90", "31,agency_scale=90"},
		{"60", "61", "61"},
		{"60,trial=40", "61", "61,trial=61"},
		{"60", "90,trial=31", "90,trial=60"},
		{"60", "60,trial=90", "60,trial=90"},
		{"60,trial=31", "31,trial=40", "60,trial=40"},
		{"60,free=31", "60", "60,free=60"},
		{"60,free=31", "60,trial=31,solo_pro=40", "60,free=60"},
		{"60,free=31", "60,free=31", "60,free=31"},
		{"60,free=31", "31,free=40", "60,free=40"},
		{"60", "31,free=90", "60,free=90"},
		{"60", "90,free=31", "90"},
		// An org that has stopped paying for solo_pro keeps its deliveries for 90 days.
		{"90,free=60", "31,solo_pro=90", "90,free=90"},
		// The number of the orgs that do not pay replaces that of their plan, so it must not be less.
		{"40,solo_pro=100", "31,free=60", "40,free=100,solo_pro=100"},
	} {
		keep := platformretention.Keep{Events: days(t, c.events), Deliveries: days(t, c.deliveries)}
		var log bytes.Buffer
		keep.RaiseEvents(slog.New(slog.NewTextHandler(&log, nil)))
		if got := keep.Events.String(); got != c.want && (got != "0" || c.want != "") {
			t.Errorf("events %q with deliveries %q: kept %q, want %q", c.events, c.deliveries, got, c.want)
		}
		warned := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "RETAIN_EVENTS")
		if warned != (c.want != c.events) || warned != (log.Len() > 0) {
			t.Errorf("events %q with deliveries %q: the log has %q", c.events, c.deliveries, log.String())
		}
		again := keep
		log.Reset()
		if again.RaiseEvents(slog.New(slog.NewTextHandler(&log, nil))); log.Len() > 0 {
			t.Errorf("events %q with deliveries %q are raised twice: %s", c.events, c.deliveries, log.String())
		}
	}
}

// The days of deliveries may come from an earlier setting, which the table keeps.
func TestADeliveryNeverOutlivesItsEvent(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]platformretention.Keep{
		"only deliveries are set":            {Deliveries: days(t, "60")},
		"deliveries are set for longer":      {Events: days(t, "40"), Deliveries: days(t, "60")},
		"events shorter than what was set":   {Events: days(t, "40")},
		"a plan keeps deliveries for longer": {Events: days(t, "40"), Deliveries: days(t, "31,solo_pro=60")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keep.RaiseEvents(slog.New(slog.DiscardHandler))
			i := newInstall(t, keep)
			i.exec(`UPDATE partitioned SET keep_days = 60 WHERE name = 'webhook_delivery'`)
			i.org("pro", "solo_pro", "active")
			i.fill(5, 45, 70)
			i.run()
			i.want("event", map[string]string{"pro": "5 45"})
			i.want("webhook_delivery", map[string]string{"pro": "5 45"})
		})
	}
}

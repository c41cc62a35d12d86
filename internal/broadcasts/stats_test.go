package broadcasts_test

import (
	"math"
	"testing"

	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

func TestTheStatisticsHaveIntervalsAndCompareTheVariantsByClicks(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := h.draft(nil).Value
	// 300 emails of each variant: those of b have twice the clicks by people, and fewer replies.
	h.exec(`INSERT INTO email (org_id, id, mailbox_id, thread_id, broadcast_id, variant, automated, purpose, subject,
			to_email, to_domain, message_id, message_hash, status, due_at, marked_at, replied_at, bounced, clicks,
			machine_clicks, opens, machine_opens, created_at, updated_at)
		SELECT $1, i, $1, i, $2, CASE WHEN g % 2 = 0 THEN 'a' ELSE 'b' END, true, 'marketing', 's',
			g || '@x.example', 'x.example', i::text, decode(md5(i::text), 'hex'),
			CASE WHEN g <= 20 THEN 'unknown' WHEN g > 600 THEN 'failed' ELSE 'sent' END, now(),
			now() - interval '25 hours', CASE WHEN g % 20 = 0 THEN now() END, CASE WHEN g % 100 = 0 THEN 'hard' END,
			CASE WHEN g <= 600 AND g % 10 IN (1, 2, 3) THEN 1 ELSE 0 END, 1, 0, 2, now(), now()
		FROM (SELECT g, md5('e' || g)::uuid AS i FROM generate_series(1, 602) g) AS made`, h.org, b.ID)
	var all []broadcasts.BroadcastStats
	h.must(func(tx *postgres.Tx) (err error) {
		all, err = broadcasts.Stats(h.Context(), tx, b.ID)
		return err
	})
	if len(all) != 2 || *all[0].Variant != "a" {
		t.Fatalf("%+v", all)
	}
	x, y := all[0], all[1]
	if x.Sent != 290 || x.Unknown != 10 || x.Failed != 1 || x.Clicked != 60 || y.Clicked != 120 || x.Opened != 0 ||
		x.MachineOpens != 602 || x.MachineClicks != 301 {
		t.Errorf("counted %+v and %+v", x, y)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 0.005 }
	if r := x.ClickRate; !near(r.Value, 0.2) || !near(r.Low, 0.159) || !near(r.High, 0.249) {
		t.Errorf("clicks of a: %+v", r)
	}
	if !near(x.ReplyRate.Value, 0.1) || y.ReplyRate.Value != 0 || y.ReplyRate.High <= 0 ||
		!near(x.BounceRate.Value, 0.02) {
		t.Errorf("replies and bounces: %+v, %+v, %+v", x.ReplyRate, y.ReplyRate, x.BounceRate)
	}
	if x.PBest == nil || y.PBest == nil || *y.PBest < 0.999 || *x.PBest > 0.001 {
		t.Errorf("the best: %v, %v", x.PBest, y.PBest)
	}
	h.exec(`UPDATE email SET marked_at = now() - interval '1 hour' WHERE variant = 'a'`)
	h.must(func(tx *postgres.Tx) (err error) {
		all, err = broadcasts.Stats(h.Context(), tx, b.ID)
		return err
	})
	if all[0].PBest != nil || all[1].PBest != nil {
		t.Error("an hour is compared")
	}
}

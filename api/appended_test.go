package api

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// standings returns entitlements of every kind.
func standings() (all []entitlements) {
	c, at := plans.Standard(), time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	reset := wire.At(at.Add(1234567 * time.Microsecond))
	for i := range c.Plans {
		for _, status := range []plans.Status{plans.Active, plans.Trialing, plans.Canceled} {
			now := &plans.Entitlements{
				Rights:  c.Effective(plans.Facts{Plan: c.Plans[i].Key, Status: status}, at),
				Version: int64(i), Used: map[string]int64{"contacts": 120, "members": 3, "client_orgs": 0},
			}
			e := showEntitlements(now)
			ai := e.Features["ai_tokens_month"]
			ai.ResetsAt = &reset
			e.Features["ai_tokens_month"] = ai
			word := e.Features["support"]
			word.Value.Word = "a \"word\" of <theirs> & \n more"
			e.Features["support"] = word
			all = append(all, e)
		}
	}
	return all
}

func TestWhatWritesItselfWritesWhatJSONWould(t *testing.T) {
	t.Parallel()
	same := func(v any) {
		t.Helper()
		var got bytes.Buffer
		if err := httpx.Marshal(&got, v); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), append(want, '\n')) {
			t.Errorf("wrote\n%s\nwant\n%s", got.Bytes(), want)
		}
	}
	over := 0
	for _, e := range standings() {
		if _, ok := any(e).(httpx.Appended); !ok {
			t.Fatal("entitlements do not write themselves")
		}
		if e.Features["contacts"].OverLimit {
			over++
		}
		same(e)
	}
	if over == 0 {
		t.Error("none is over its limit")
	}
	same(tableOf(plans.Standard()))
}

// plainly are entitlements without AppendJSON.
type plainly entitlements

func BenchmarkEntitlements(b *testing.B) {
	e := standings()[3]
	for name, v := range map[string]any{"appended": e, "reflected": plainly(e)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var w bytes.Buffer
			for b.Loop() {
				w.Reset()
				if err := httpx.Marshal(&w, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package requestlog_test

import (
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/requestlog"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// BenchmarkASuccessfulRequest measures what the log costs a request, with all of Postgres's work: an entry is made, and
// written with the others of a quarter of a second at 1,000 requests a second.
func BenchmarkASuccessfulRequest(b *testing.B) {
	db := testkit.DB(b)
	r := requestlog.NewRecorder(db.System, testkit.Log(b), nil)
	org := id.New()
	var batch []*requestlog.Entry
	for b.Loop() {
		batch = append(batch, &requestlog.Entry{
			Org: org, At: time.Now(), RequestID: id.New().String(), Method: "POST", Route: "/api/v1/crm/contacts",
			Status: 201, Took: 4 * time.Millisecond, Key: org,
		})
		if len(batch) == 250 {
			if err := r.WriteBatch(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
}

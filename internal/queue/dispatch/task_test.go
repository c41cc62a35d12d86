package dispatch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
)

// FuzzReadTask compares the fast path with encoding/json, for our payloads and others.
func FuzzReadTask(f *testing.F) {
	job, org := id.New().String(), id.New().String()
	ours := `{"id":"` + job + `","org":"` + org + `"}`
	for _, payload := range []string{
		ours, strings.ToUpper(ours), `{"id":"` + strings.ToUpper(job) + `","org":"` + org + `"}`,
		`{"org":"` + org + `","id":"` + job + `"}`, ours + " ",
		`{"id": "` + job + `","org":"` + org + `"}`, `{"id":"` + job + `"}`,
		`{"id":"` + id.ID{}.String() + `","org":"` + org + `"}`, `{"id":"` + job + `","org":"` + org + `"]`,
		`{"id":"` + job + `","og":"` + org + `" }`, `{"id":"` + job[:35] + `g","org":"` + org + `"}`,
		`{"id":"` + job + `","org":"` + org[:35] + `\"}`, `{}`, `null`, ``,
	} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var want dispatch.Task
		err := json.Unmarshal(payload, &want)
		fails := err != nil || want.ID.IsZero()
		got, err := dispatch.ReadTask(payload)
		if (err != nil) != fails || err == nil && got != want {
			t.Errorf("%q read as %v, %v; encoding/json reads %v and it fails: %v", payload, got, err, want, fails)
		}
	})
}

func TestATaskIsWrittenAsEncodingJSONWritesIt(t *testing.T) {
	t.Parallel()
	for range 100 {
		task := dispatch.Task{ID: id.New(), Org: id.New()}
		want, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		if got := dispatch.Payload(task); string(got) != string(want) {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

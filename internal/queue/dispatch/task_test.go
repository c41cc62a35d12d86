package dispatch_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
)

func TestATaskIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := dispatch.Task{ID: id.New(), Org: id.New()}
	if got, err := dispatch.ReadTask(dispatch.Payload(want)); err != nil || got != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestAPayloadWithoutAJobIsRefused(t *testing.T) {
	t.Parallel()
	org := id.New().String()
	for _, payload := range []string{
		``, `null`, `{}`, `[]`, `{"id":"` + org, `{"id":"` + org[:35] + `g"}`, `{"org":"` + org + `"}`,
		`{"id":"` + id.ID{}.String() + `","org":"` + org + `"}`,
	} {
		if task, err := dispatch.ReadTask([]byte(payload)); err == nil {
			t.Errorf("%q was read as %v", payload, task)
		}
	}
}

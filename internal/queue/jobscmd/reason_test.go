package jobscmd_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/queue/jobscmd"
)

func TestAReasonThatIsGivenIsNotEmpty(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]jobscmd.Reason{" mended ": "mended", "": "", " \t": ""} {
		var r jobscmd.Reason
		if err := r.UnmarshalText([]byte(text)); (err == nil) != (want != "") || r != want {
			t.Errorf("%q: %q, %v", text, r, err)
		}
	}
}

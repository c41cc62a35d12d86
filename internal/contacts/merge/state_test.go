package merge

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A merge can be undone for a month, so a release reads the state that an earlier release stored, and the reverse.
func TestAStoredStateHasTheNamesOfAContact(t *testing.T) {
	t.Parallel()
	const stored = `{"phone": "+49 1", "job_title": "CTO", "source": null, "time_zone": null,
		"company_id": "01980000-0000-7000-8000-000000000001", "owner_id": null, "tag": ["a"], "segment": ["s"],
		"attributes": {"size": 1}, "updated_at": "2026-01-02T03:04:05.000006Z", "edit": 7}`
	var s state
	if err := json.Unmarshal([]byte(stored), &s); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	if err := json.Unmarshal([]byte(stored), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if diff := cmp.Diff(want[name], got[name]); diff != "" {
			t.Errorf("%s differs after a read and a write (-want +got):\n%s", name, diff)
		}
	}
}

package standby

import (
	"testing"
	"time"
)

func TestTheLagIsTheAgeOfTheNewestReplayedRecord(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var h history
	if lag, known := h.lag(at(0), 5); known || lag != 0 {
		t.Errorf("without records: %v %v", lag, known)
	}
	for i := range 10 {
		h.add(at(i), int64(100*i))
	}
	for _, c := range []struct {
		replayed int64
		lag      time.Duration
		known    bool
	}{
		{-1, 9 * time.Second, false}, // at least
		{399, 6 * time.Second, true},
		{400, 5 * time.Second, true},
		{5000, 0, true},
	} {
		if lag, known := h.lag(at(9), c.replayed); lag != c.lag || known != c.known {
			t.Errorf("replayed %d: %v %v, want %v %v", c.replayed, lag, known, c.lag, c.known)
		}
	}
	for i := range 5 { // a primary that writes nothing
		h.add(at(10+i), 900)
	}
	if lag, known := h.lag(at(15), 900); lag != time.Second || !known {
		t.Errorf("while the primary is idle: %v %v", lag, known)
	}
	h.add(at(16), 10) // another primary, with a shorter log
	if lag, known := h.lag(at(17), 10); lag != time.Second || !known {
		t.Errorf("after a promotion: %v %v", lag, known)
	}
	for i := range 1000 {
		h.add(at(20+i), int64(20+i))
	}
	if len(h.records) != keptRecords {
		t.Errorf("%d records are kept, want %d", len(h.records), keptRecords)
	}
}

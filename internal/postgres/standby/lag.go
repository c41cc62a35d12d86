package standby

import "time"

// keptRecords is the number of records that a history keeps: two minutes of them.
const keptRecords = 120

// record is the position of the primary's log at a time.
type record struct {
	at       time.Time
	position int64
}

// history is the latest records, oldest first.
type history struct{ records []record }

func (h *history) add(at time.Time, position int64) {
	if n := len(h.records); n > 0 && position < h.records[n-1].position {
		h.records = nil // a promoted server is the primary now, and its log is shorter
	}
	h.records = append(h.records, record{at, position})
	if n := len(h.records) - keptRecords; n > 0 {
		h.records = h.records[n:]
	}
}

// lag returns the age of the rows of a standby that has replayed the log up to a position. If it has replayed none of
// the records, known is false, and lag is the least that it can be.
func (h *history) lag(now time.Time, replayed int64) (lag time.Duration, known bool) {
	for i := len(h.records) - 1; i >= 0; i-- {
		if h.records[i].position <= replayed {
			h.records = h.records[i:] // older ones are not needed any more
			return now.Sub(h.records[0].at), true
		}
	}
	if len(h.records) == 0 {
		return 0, false
	}
	return now.Sub(h.records[0].at), false
}

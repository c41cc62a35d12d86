package tracking

import (
	"bytes"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
)

// Times of the verdicts.
const (
	hold     = 10 * time.Second // from a hit to its verdict
	tooSoon  = 2 * time.Second  // after the transmission: no person is as quick
	burst    = 5 * time.Second  // within which one network's links are counted
	burstOf  = 3
	followed = 30 * time.Second // within which another network's request shows the first to be a scanner's
	keep     = time.Minute      // hits around a hit matter for so long
)

// hit is a row of email_hit.
type hit struct {
	id     id.ID
	email  id.ID
	link   int16
	at     time.Time
	signs  signs
	net    []byte
	judged bool
	url    *string // target of the link; nil: none
}

// machineSigns returns the signs of a machine in h. around has the hits of the same email, h among them; marked is when
// the email was transmitted.
func (h *hit) machineSigns(around []hit, marked *time.Time) signs {
	s := h.signs
	// A hit that precedes the mark by more was stamped by a clock that differs from Postgres's, so it says nothing.
	if marked != nil && h.at.Sub(*marked).Abs() < tooSoon {
		s |= signTooSoon
	}
	followedLinks := map[int16]bool{}
	for i := range around {
		o := &around[i]
		apart := o.at.Sub(h.at)
		switch same := bytes.Equal(o.net, h.net); {
		case same && o.link == links.Trap && apart.Abs() < keep:
			s |= signTrap
		case same && o.link > links.Trap && apart.Abs() <= burst:
			followedLinks[o.link] = true
		case !same && h.link > links.Trap && o.link == h.link && apart >= 0 && apart <= followed && o.id != h.id:
			s |= signTwoNets
		}
	}

	if h.link > links.Trap && len(followedLinks) >= burstOf {
		s |= signManyURLs
	}

	return s
}

// isRepeat reports whether h repeats an earlier hit of the same network, as a person does who opens a mail again and
// again. Such hits are not counted.
func (h *hit) isRepeat(around []hit) bool {
	for i := range around {
		o := &around[i]
		if o.link == h.link && bytes.Equal(o.net, h.net) && o.id != h.id && h.at.Sub(o.at) < keep &&
			(o.at.Before(h.at) || o.at.Equal(h.at) && bytes.Compare(o.id[:], h.id[:]) < 0) {
			return true
		}
	}
	return false
}

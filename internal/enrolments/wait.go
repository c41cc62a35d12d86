package enrolments

import (
	"context"
	"fmt"
	"slices"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
)

// Waits returns what each of the enrolments waits for. Its own pause comes first, then that of its sequence, then its
// mailbox. An ended enrolment waits for nothing.
func Waits(ctx context.Context, tx *postgres.Tx, all []Enrolment) ([]mailboxes.Wait, error) {
	var ids, senders []id.ID
	for i := range all {
		if states.IsOpen(all[i].State) {
			ids, senders = append(ids, all[i].SequenceID), append(senders, all[i].MailboxID)
		}
	}
	paused, err := sequences.PausedOf(ctx, tx, sortUnique(ids))
	if err != nil {
		return nil, err
	}
	waits, err := mailboxes.WaitsOf(ctx, tx, sortUnique(senders))
	if err != nil {
		return nil, err
	}
	out := make([]mailboxes.Wait, len(all))
	for i := range all {
		e := &all[i]
		switch {
		case !states.IsOpen(e.State):
		case e.State == states.Paused:
			out[i] = pauseOf(e)
		case slices.Contains(paused, e.SequenceID):
			out[i] = mailboxes.WaitFor(states.SequencePaused, "The sequence is paused.", "Resume the sequence.")
		default:
			out[i] = waits[e.MailboxID].Wait
		}
	}
	return out, nil
}

// pauseOf returns what a paused enrolment waits for.
func pauseOf(e *Enrolment) mailboxes.Wait {
	reason := states.EnrolmentPaused
	if e.Reason != nil {
		reason = *e.Reason
	}
	detail, action := "The enrolment is paused.", "Resume the enrolment when it may go on."
	switch {
	case reason == PausedByPerson:
		detail = "A person has paused the enrolment."
	case e.ResumeAt != nil:
		detail, action = "The enrolment is paused for a time.", "Wait, or resume the enrolment."
	}
	return mailboxes.WaitFor(reason, detail, action)
}

// SequenceWaits returns what each of the sequences waits for: its own pause, or mailboxes that send its mails. A
// sequence with several mailboxes waits as soon as one of them does, since an enrolment keeps its mailbox.
func SequenceWaits(ctx context.Context, tx *postgres.Tx, all []sequences.Row) ([]mailboxes.Wait, error) {
	ids := make([]id.ID, len(all))
	for i := range all {
		ids[i] = all[i].Value.ID
	}
	senders, err := sequences.SendersOf(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	var boxes []id.ID
	for _, list := range senders {
		boxes = append(boxes, list...)
	}
	waits, err := mailboxes.WaitsOf(ctx, tx, sortUnique(boxes))
	if err != nil {
		return nil, err
	}
	out := make([]mailboxes.Wait, len(all))
	for i := range all {
		if s := &all[i].Value; s.Status == sequences.Paused {
			out[i] = mailboxes.WaitFor(sequences.ByPerson, "A person has paused the sequence.",
				"Resume the sequence when it may go on.")
		} else {
			out[i] = firstWait(liveSenders(senders[s.ID], waits), waits)
		}
	}
	return out, nil
}

// liveSenders leaves out the mailboxes that were deleted, from which nobody is enrolled. Without any other one the
// sequence waits for them.
func liveSenders(boxes []id.ID, waits map[id.ID]mailboxes.SenderWait) []id.ID {
	live := slices.DeleteFunc(slices.Clone(boxes), func(box id.ID) bool {
		w, waiting := waits[box]
		return waiting && *w.StatusReason == mailboxes.MailboxGone
	})
	if len(live) == 0 {
		return boxes
	}
	return live
}

// firstWait returns what the first of the mailboxes that wait waits for. A daily cap comes last: it ends by itself.
func firstWait(boxes []id.ID, waits map[id.ID]mailboxes.SenderWait) mailboxes.Wait {
	var found []mailboxes.SenderWait
	for _, box := range boxes {
		if w, waiting := waits[box]; waiting {
			found = append(found, w)
		}
	}
	if len(found) == 0 {
		return mailboxes.Wait{}
	}
	w := found[0]
	notCap := func(w mailboxes.SenderWait) bool { return *w.StatusReason != mailboxes.ByCap }
	if n := slices.IndexFunc(found, notCap); n > 0 {
		w = found[n]
	}
	if len(boxes) > 1 {
		detail := fmt.Sprintf("%d of its %d mailboxes cannot send now. %s: %s", len(found), len(boxes), w.Address,
			*w.StatusDetail)
		w.StatusDetail = &detail
	}
	return w.Wait
}

func sortUnique(ids []id.ID) []id.ID {
	slices.SortFunc(ids, id.Compare)
	return slices.Compact(ids)
}

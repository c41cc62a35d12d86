package enrolments

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Enrolment is the progress of one contact through a sequence.
type Enrolment = states.Enrolment

// Results of an enrolment.
const (
	Enrolled = "enrolled"
	Skipped  = "skipped"
)

// Reasons for which a contact is skipped.
const (
	NotFound        = "not_found"
	Archived        = "archived"
	NoEmail         = "no_email"
	SuppressedOne   = "suppressed"
	NoConsent       = "no_consent"
	BlockedCountry  = "blocked_country"
	AlreadyOpen     = "already_open"
	ActiveElsewhere = "active_elsewhere"
	FinishedBefore  = "finished_before"
)

// Result is what became of one contact.
type Result struct {
	ContactID   id.ID   `json:"contact_id" format:"uuid" doc:"ID of the contact"`
	Result      string  `json:"result" enum:"enrolled,skipped" doc:"What became of the contact"`
	Reason      *string `json:"reason"`
	EnrolmentID *id.ID  `json:"enrolment_id" format:"uuid" nullable:"true"`
}

// Descriptions implements wire.Describer.
func (Result) Descriptions() map[string]string {
	return map[string]string{
		"reason": "Why it was skipped: not_found, archived, no_email, suppressed, no_consent, blocked_country, " +
			"already_open, active_elsewhere or finished_before; null: it was not",
		"enrolment_id": "The new enrolment; null: it was skipped, or this is a dry run",
	}
}

// Request is a request to enrol contacts in a sequence.
type Request struct {
	Sequence id.ID
	Mailbox  *id.ID     // sends their mails; nil: those of the version take turns
	StartAt  *time.Time // when the delay of the first step begins; nil: now
	DryRun   bool
	By       string // who enrols them: "user/<id>", "key/<id>", "segment/<id>" or ""
}

// Service enrols contacts. It is safe for concurrent use.
type Service struct {
	Suppressions *suppression.Service
}

// Enrol enrols the contacts and returns a result for each, in their order. It announces sequence.enrolled. An unknown
// sequence is a not_found fault, a draft or an archived one sequence_not_active; in a paused one the enrolments are
// pending.
func (s *Service) Enrol(ctx context.Context, tx *postgres.Tx, r *Request, contacts []id.ID) ([]Result, error) {
	e, err := s.newEnroller(ctx, tx, r)
	if err != nil {
		return nil, err
	}
	return e.enrolContacts(ctx, tx, contacts, nil)
}

// enroller enrols contacts for one request.
type enroller struct {
	*Request
	*Service
	version *sequences.Version
	state   string // of the new enrolments
	plan    *plan
	rules   *orgsending.Settings
}

func (s *Service) newEnroller(ctx context.Context, tx *postgres.Tx, r *Request) (*enroller, error) {
	at, err := sequences.StateOf(ctx, tx, r.Sequence)
	if err != nil {
		return nil, err
	}
	e := &enroller{Request: r, Service: s, state: states.Active}
	switch at.Status {
	case sequences.Active:
	case sequences.Paused:
		e.state = states.Pending
	default:
		return nil, fault.New(fault.SequenceNotActive, "The sequence is neither active nor paused.")
	}

	if e.version, err = sequences.Load(ctx, tx, r.Sequence, at.Version); err != nil {
		return nil, err
	}

	if e.rules, err = orgsending.Read(ctx, tx); err != nil {
		return nil, err
	}

	e.plan, err = planOf(ctx, tx, e.version, r.Mailbox)

	return e, err
}

// enrolContacts enrols the contacts. batch is the batch that they are from, or nil.
func (e *enroller) enrolContacts(ctx context.Context, tx *postgres.Tx, contacts []id.ID, batch *id.ID) (
	[]Result, error,
) {
	found, err := e.readCandidates(ctx, tx, contacts)
	if err != nil {
		return nil, err
	}
	made, err := e.insertCandidates(ctx, tx, found, batch)
	if err != nil {
		return nil, err
	}
	if err := e.markEnrolledMeanwhile(ctx, tx, found, made); err != nil {
		return nil, err
	}

	out, seen := make([]Result, len(contacts)), map[id.ID]bool{}
	for i, contact := range contacts {
		r := &out[i]
		r.ContactID, r.Result = contact, Skipped
		c, known := found[contact]
		switch {
		case !known:
			r.Reason = new(NotFound)
		case c.reason != "":
			r.Reason = &c.reason
		case seen[contact]:
			r.Reason = new(AlreadyOpen)
		case e.DryRun:
			r.Result = Enrolled
		default:
			r.Result, r.EnrolmentID = Enrolled, &made[contact].ID
		}
		seen[contact] = true
	}

	return out, nil
}

// insertCandidates inserts the enrolments of the candidates without a reason, their history and their events. It
// returns them by contact. A contact that was enrolled concurrently is missing.
func (e *enroller) insertCandidates(ctx context.Context, tx *postgres.Tx, found map[id.ID]*candidate, batch *id.ID,
) (map[id.ID]*Enrolment, error) {
	if e.DryRun {
		return nil, nil //nolint:nilnil // a nil map has no enrolments
	}
	now := wire.Now()
	start := now.Time
	if e.StartAt != nil && e.StartAt.After(start) {
		start = *e.StartAt
	}
	in := &inserts{}
	// Concurrent transactions insert the same contacts in one order, so that they do not block each other.
	for _, contact := range contacts.SortIDs(slices.Collect(maps.Keys(found))) {
		if c := found[contact]; c.reason == "" {
			if err := in.add(e, c, start); err != nil {
				return nil, err
			}
		}
	}
	if len(in.ids) == 0 {
		return nil, nil //nolint:nilnil // a nil map has no enrolments
	}
	if err := e.plan.queueGroups(tx, now.Time); err != nil {
		return nil, err
	}

	made, err := in.insertAll(ctx, tx, e, batch, now)
	if err != nil {
		return nil, err
	}

	out, announced := make(map[id.ID]*Enrolment, len(made)), make([]events.Event, len(made))
	for i := range made {
		n := &made[i]
		out[n.ContactID], announced[i] = n, events.SequenceEnrolled{Enrolment: n.Event()}
	}
	for _, group := range slices.Sorted(maps.Keys(in.due)) { // in one order, since Due locks them
		states.Due(tx, group, in.due[group])
	}

	return out, events.AnnounceAll(ctx, tx, announced)
}

// markEnrolledMeanwhile sets the reasons of the candidates without one that were not inserted: a concurrent
// transaction, which has been committed by now, has enrolled them.
func (e *enroller) markEnrolledMeanwhile(ctx context.Context, tx *postgres.Tx, found map[id.ID]*candidate,
	made map[id.ID]*Enrolment,
) error {
	var lost []id.ID
	for contact, c := range found {
		if c.reason == "" && made[contact] == nil && !e.DryRun {
			lost = append(lost, contact)
		}
	}
	if len(lost) == 0 {
		return nil
	}

	now, err := e.readCandidates(ctx, tx, lost)
	if err != nil {
		return err
	}

	for _, contact := range lost {
		found[contact].reason = AlreadyOpen
		if c := now[contact]; c != nil && c.reason != "" {
			found[contact].reason = c.reason
		}
	}

	return nil
}

func causeOf(by string) string {
	if by == "" {
		return "enrolled"
	}
	return by
}

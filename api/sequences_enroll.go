package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/sequenceenroll"
)

// maxEnrolled is the maximum number of contacts that one request names.
const maxEnrolled = 1000

func (a *App) mountEnroll() {
	const one = sequencesPath + "/{id}"
	const batch = one + "/batches/{batch}"
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.enroll",
		Method: http.MethodPost, Path: one + "/enroll", Need: httpx.Member, Tag: enrolmentsTag,
		Title: "Enrol contacts in a sequence", Also: []int{http.StatusAccepted}, Feature: plans.Sequences,
		Writes: []string{"sequence.enrolled", sequenceenroll.Kind.Name()}, May: []int{http.StatusBadRequest},
	}, a.enrollContacts)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.get_batch",
		Method: http.MethodGet, Path: batch, Need: httpx.Viewer, Tag: enrolmentsTag,
		Title: "Get the progress of a large enrolment",
	}, a.getBatch)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.list_batch_skipped",
		Method: http.MethodGet, Path: batch + "/skipped", Need: httpx.Viewer, Tag: enrolmentsTag,
		Title: "List the contacts that a large enrolment has skipped",
	}, a.listSkipped)
	httpx.Route(a.Server, httpx.Op{
		ID:     "sequences.cancel_batch",
		Method: http.MethodPost, Path: batch + "/cancel", Need: httpx.Member, Tag: enrolmentsTag,
		Title: "Cancel a large enrolment; contacts already enrolled stay enrolled",
	}, a.cancelBatch)
}

type enrollIn struct {
	SequenceID
	Body enrollRequest
}

type enrollRequest struct {
	ContactIDs httpx.Optional[[]string]       `json:"contact_ids" required:"false"`
	Segment    httpx.Optional[string]         `json:"segment" required:"false" doc:"ID or key of a segment"`
	Filter     httpx.Optional[map[string]any] `json:"filter" required:"false" doc:"Which contacts: a filter"`
	MailboxID  httpx.Optional[string]         `json:"mailbox_id" required:"false"`
	StartAt    httpx.Optional[time.Time]      `json:"start_at" required:"false"`
	DryRun     httpx.Flag                     `json:"dry_run" required:"false" doc:"Write nothing"`
}

// Descriptions implements wire.Describer.
func (enrollRequest) Descriptions() map[string]string {
	return map[string]string{
		"contact_ids": "IDs of up to 1000 contacts; exactly one of contact_ids, segment and filter is required",
		"mailbox_id":  "Mailbox that sends all mails of these enrolments; null: the mailboxes of the sequence",
		"start_at":    "When the delay of the first step begins, RFC 3339; null: now",
	}
}

// chosenContacts returns the ids of the contacts that the request names, or nil if it names none.
func (r *enrollRequest) chosenContacts() ([]id.ID, error) {
	given := 0
	for _, has := range []bool{
		r.ContactIDs.Set && !r.ContactIDs.Null, r.Segment.Set && !r.Segment.Null, r.Filter.Set && !r.Filter.Null,
	} {
		if has {
			given++
		}
	}

	if given != 1 {
		return nil, fault.Invalid("contact_ids", "required",
			"Exactly one of contact_ids, segment and filter is required.")
	}
	if len(r.ContactIDs.Value) > maxEnrolled {
		return nil, fault.Invalid("contact_ids", "too_many",
			"At most 1000 contacts are allowed; use a segment or a filter.")
	}

	var all []id.ID
	for n, text := range r.ContactIDs.Value {
		i, err := id.Parse(text)
		if err != nil {
			return nil, fault.Invalid("contact_ids/"+strconv.Itoa(n), "invalid_uuid", "This is not a UUID.")
		}
		all = append(all, i)
	}

	return all, nil
}

// toRequest returns the part that ids, segments and filters have in common.
func (in *enrollIn) toRequest(ctx context.Context) (enrolments.Request, error) {
	r := enrolments.Request{Sequence: in.ID, DryRun: in.Body.DryRun.Value, By: callerName(ctx)}
	if at := in.Body.StartAt; at.Set && !at.Null {
		r.StartAt = &at.Value
	}
	mailbox, err := uuidField("mailbox_id", in.Body.MailboxID)
	if err == nil {
		err = httpx.NoNulls(map[string]httpx.Flag{"dry_run": in.Body.DryRun})
	}
	r.Mailbox = mailbox
	return r, err
}

// EnrollResult is the result of a request to enrol contacts: of contact_ids the results, else the batch.
type EnrollResult struct {
	Data  []enrolments.Result `json:"data,omitempty" doc:"Of contact_ids: one result per contact, in the order sent"`
	Batch *enrolments.Batch   `json:"batch,omitempty" doc:"Of a segment or filter: the job that enrols the contacts"`
}

type enrollOut struct {
	Status   int
	Location string `header:"Location" doc:"Of a segment or filter: address of the job"`
	Body     EnrollResult
}

func (a *App) enrollContacts(ctx context.Context, in *enrollIn) (*enrollOut, error) {
	chosen, err := in.Body.chosenContacts()
	if err != nil {
		return nil, err
	}

	r, err := in.toRequest(ctx)
	if err != nil {
		return nil, err
	}

	s := enrolments.Service{Suppressions: a.Emails.Suppressions}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*enrollOut, error) {
		if in.Body.ContactIDs.Set && !in.Body.ContactIDs.Null {
			results, err := s.Enrol(ctx, tx, &r, chosen)
			if err != nil {
				return nil, err
			}
			return &enrollOut{Status: http.StatusOK, Body: EnrollResult{Data: results}}, nil
		}
		return startBatch(ctx, tx, &s, &in.Body, r)
	})
}

// startBatch stores a large enrolment and enqueues its job.
func startBatch(ctx context.Context, tx *postgres.Tx, s *enrolments.Service, in *enrollRequest, r enrolments.Request,
) (*enrollOut, error) {
	b := &enrolments.BatchRequest{Request: r}
	if in.Segment.Set && !in.Segment.Null {
		segment, err := segmentNamed(ctx, tx, in.Segment.Value)
		if err != nil {
			return nil, err
		}
		b.Segment = &segment
	} else {
		raw, err := json.Marshal(in.Filter.Value)
		if err != nil {
			return nil, fault.Invalid("filter", "invalid_value", "This is not a filter.").Because(err)
		}
		b.Filter = raw
	}

	made, err := s.StartBatch(ctx, tx, b)
	if wrong, ok := errors.AsType[*filter.Error](err); ok {
		return nil, wrong.InBody("#/filter")
	}
	if err != nil {
		return nil, err
	}

	return &enrollOut{
		Status: http.StatusAccepted, Location: "/api/v1/jobs/" + made.ID.String(), Body: EnrollResult{Batch: made},
	}, sequenceenroll.Kind.Add(ctx, tx, sequenceenroll.Args{Batch: made.ID})
}

// segmentNamed returns the id of a live segment with the given id or key.
func segmentNamed(ctx context.Context, tx *postgres.Tx, name string) (segment id.ID, err error) {
	err = tx.QueryRow(ctx, `SELECT id FROM segment WHERE org_id = $1 AND (id::text = $2 OR key = $2)
		AND archived_at IS NULL ORDER BY key = $2 DESC LIMIT 1`, []any{tx.Org(), name}, &segment)
	if postgres.None(err) {
		return segment, fault.Invalid("segment", "unknown_segment", "There is no such segment.")
	}
	return segment, err
}

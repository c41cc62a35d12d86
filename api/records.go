package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// records describes a plain resource for its handlers. T is its public form, P its patch.
type records[T, P any] struct {
	*App
	path    string
	id      func(*T) id.ID
	create  func(context.Context, *postgres.Tx, *P) (record.Row[T], error)
	get     func(context.Context, *postgres.Tx, id.ID, bool) (record.Row[T], error)
	update  func(context.Context, *postgres.Tx, id.ID, record.Match, *P) (record.Change[T], error)
	archive func(context.Context, *postgres.Tx, id.ID, record.Match) (record.Change[T], error)
	restore func(context.Context, *postgres.Tx, id.ID) (record.Change[T], error)
	// announce announces a change and enqueues the jobs that follow from it.
	announce func(context.Context, *postgres.Tx, *record.Change[T]) error
	// resolve converts the error of a failed transaction to a fault. Nil: errors are returned unchanged.
	resolve func(context.Context, error) error
}

// RecordID is the path parameter of one record.
type RecordID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the record, a UUID"`
}

type recordRead struct {
	RecordID
	IncludeArchived bool `query:"include_archived" doc:"Also find an archived record"`
}

type recordNew[B any] struct{ Body B }

type recordPatch[B any] struct {
	RecordID
	httpx.IfMatch
	Body B
}

type recordDrop struct {
	RecordID
	httpx.IfMatch
}

type recordAnswer[T any] struct {
	httpx.Tagged
	Body T
}

type recordCreated[T any] struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the record"`
	Body     T
}

type recordList[T any] struct{ Body httpx.List[T] }

func showRecord[T any](r record.Row[T]) *recordAnswer[T] {
	return &recordAnswer[T]{Tagged: httpx.ETag(r.Edit, 0), Body: r.Value}
}

func (r records[T, P]) resolveError(ctx context.Context, err error) error {
	if err == nil || r.resolve == nil {
		return err
	}
	return r.resolve(ctx, err)
}

// createHandler returns the handler of a create operation with body B.
func createHandler[T, P, B any](r records[T, P],
	patch func(*B) P,
) func(context.Context, *recordNew[B]) (*recordCreated[T], error) {
	return func(ctx context.Context, in *recordNew[B]) (*recordCreated[T], error) {
		p := patch(&in.Body)
		out, err := httpx.Write(ctx, r.Server, func(tx *postgres.Tx) (*recordCreated[T], error) {
			row, err := r.create(ctx, tx, &p)
			if err != nil {
				return nil, err
			}
			out := &recordCreated[T]{
				Tagged: httpx.ETag(row.Edit, 0), Location: r.path + "/" + r.id(&row.Value).String(),
				Body: row.Value,
			}
			return out, r.announce(ctx, tx, &record.Change[T]{Row: row})
		})
		return out, r.resolveError(ctx, err)
	}
}

// updateHandler returns the handler of a PATCH with body B.
func updateHandler[T, P, B any](r records[T, P],
	patch func(*B) P,
) func(context.Context, *recordPatch[B]) (*recordAnswer[T], error) {
	return func(ctx context.Context, in *recordPatch[B]) (*recordAnswer[T], error) {
		p := patch(&in.Body)
		out, err := httpx.Write(ctx, r.Server, func(tx *postgres.Tx) (*recordAnswer[T], error) {
			ch, err := r.update(ctx, tx, in.ID, in.Check, &p)
			if err != nil {
				return nil, err
			}
			return showRecord(ch.Row), r.announce(ctx, tx, &ch)
		})
		return out, r.resolveError(ctx, err)
	}
}

func (r records[T, P]) getRecord(ctx context.Context, in *recordRead) (*recordAnswer[T], error) {
	return httpx.Read(ctx, r.Server, func(tx *postgres.Tx) (*recordAnswer[T], error) {
		row, err := r.get(ctx, tx, in.ID, in.IncludeArchived)
		if err != nil {
			return nil, err
		}
		return showRecord(row), nil
	})
}

func (r records[T, P]) archiveRecord(ctx context.Context, in *recordDrop) (*noContact, error) {
	return httpx.Write(ctx, r.Server, func(tx *postgres.Tx) (*noContact, error) {
		ch, err := r.archive(ctx, tx, in.ID, in.Check)
		if err != nil {
			return nil, err
		}
		return &noContact{}, r.announce(ctx, tx, &ch)
	})
}

func (r records[T, P]) restoreRecord(ctx context.Context, in *RecordID) (*recordAnswer[T], error) {
	out, err := httpx.Write(ctx, r.Server, func(tx *postgres.Tx) (*recordAnswer[T], error) {
		ch, err := r.restore(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return showRecord(ch.Row), r.announce(ctx, tx, &ch)
	})
	return out, r.resolveError(ctx, err)
}

// listing describes how a list is read. count and estimate return the number of rows.
type listing[T any] struct {
	rows     func(ctx context.Context, tx *postgres.Tx, after *record.Position, limit int) ([]record.Row[T], error)
	position func(*record.Row[T]) record.Position
	count    func(context.Context, *postgres.Tx) (int64, error)
	estimate func(context.Context, *postgres.Tx) (int64, error)
}

// listHandler returns one page of a list.
func listHandler[T any](
	ctx context.Context,
	a *App,
	page httpx.Page,
	how string,
	l listing[T],
) (*recordList[T], error) {
	from, err := httpx.After[record.Position](ctx, a.Server, page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*recordList[T], error) {
		rows, err := l.rows(ctx, tx, from, page.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &recordList[T]{}
		out.Body, err = httpx.NewList(ctx, a.Server, page, rows, func(r record.Row[T]) T {
			return r.Value
		}, func(r record.Row[T]) record.Position { return l.position(&r) })
		if err != nil || how == "" {
			return out, err
		}

		count := l.count
		if how == "estimate" {
			count = l.estimate
		}

		n, err := count(ctx, tx)
		out.Body.Total = &n

		return out, err
	})
}

// CountQuery is embedded by the input of a list that is expensive to count exactly.
type CountQuery struct {
	Count string `query:"count" enum:"estimate,exact"`
}

// Descriptions implements wire.Describer.
func (CountQuery) Descriptions() map[string]string {
	return map[string]string{
		"count": "Add total. exact takes time proportional to the total; estimate is exact up to 1000",
	}
}

// announceAll announces events in order.
func announceAll(ctx context.Context, tx *postgres.Tx, all []events.Event) error {
	for _, e := range all {
		if err := events.Announce(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// recordBatchResult is the outcome of one row of a batch.
type recordBatchResult struct {
	Index  int            `json:"index" doc:"Index of the row in the request, from 0"`
	ID     *id.ID         `json:"id" format:"uuid" nullable:"true" doc:"null if the row is invalid"`
	Result string         `json:"result" enum:"created,updated,unchanged,error"`
	Error  *batchRowError `json:"error,omitempty" doc:"Why the row failed; absent for any other result"`
}

// Descriptions implements wire.Describer.
func (recordBatchResult) Descriptions() map[string]string {
	return map[string]string{
		"result": "created, updated, unchanged (the row changed nothing) or error (see error)",
	}
}

type recordBatchResultsOut struct {
	Body struct {
		Data []recordBatchResult `json:"data" doc:"One per row, in the order sent"`
	}
}

// writeBatch returns the outcome of each row of a batch and calls announce once per change.
func writeBatch[T any](ctx context.Context, a *App,
	upsert func(*postgres.Tx) ([]record.Outcome, []record.Change[T], error),
	announce func(context.Context, *postgres.Tx, *record.Change[T]) error,
) (*recordBatchResultsOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*recordBatchResultsOut, error) {
		outcomes, changed, err := upsert(tx)
		if err != nil {
			return nil, err
		}

		for i := range changed {
			if err := announce(ctx, tx, &changed[i]); err != nil {
				return nil, err
			}
		}

		out := &recordBatchResultsOut{}
		out.Body.Data = make([]recordBatchResult, len(outcomes))
		for i := range outcomes {
			o := &outcomes[i]
			r := recordBatchResult{Index: i, Result: o.Result}
			if r.ID = &o.ID; o.Fault != nil {
				r.ID = nil
				r.Error = &batchRowError{
					Code: string(o.Fault.Code), Detail: o.Fault.Detail, Errors: o.Fault.Fields,
					ExistingID: o.Fault.ExistingID,
				}
			}
			out.Body.Data[i] = r
		}

		return out, nil
	})
}

// uuidParameter parses an optional query parameter that is a UUID.
func uuidParameter(name, given string) (*id.ID, error) {
	if given == "" {
		return nil, nil //nolint:nilnil // nobody asked
	}
	i, err := id.Parse(given)
	if err != nil {
		return nil, fault.Parameter(name, "invalid_format", "This is not a UUID.")
	}
	return &i, nil
}

// ExternalIDQuery is embedded by the input of a list of records with external ids.
type ExternalIDQuery struct {
	ExternalID string `query:"external_id" maxLength:"300" doc:"Only records with this id elsewhere, as hubspot:123"`
}

// externalIDParameter parses the query parameter external_id.
func externalIDParameter(given string) (*externalid.Key, error) {
	if given == "" {
		return nil, nil //nolint:nilnil // nobody asked
	}
	k, ok := externalid.ParseKey(given)
	if !ok {
		return nil, fault.Parameter("external_id", "invalid_format",
			"This is not a system and an id with a colon between them, such as hubspot:123.")
	}
	return &k, nil
}

// resolveExternalID converts the violation of an external id to a fault.
func (a *App) resolveExternalID(ctx context.Context, err error) error {
	return externalid.Resolve(ctx, a.DB, httpx.Who(ctx).Org, err)
}

package api

import (
	"context"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// BatchID is the path of one large enrolment.
type BatchID struct {
	SequenceID
	Batch id.ID `path:"batch" format:"uuid" doc:"ID of the job"`
}

type batchOut struct{ Body enrolments.Batch }

// readBatch returns a large enrolment of the sequence in the path.
func (in *BatchID) readBatch(ctx context.Context, tx *postgres.Tx) (*enrolments.Batch, error) {
	b, err := enrolments.GetBatch(ctx, tx, in.Batch)
	if err == nil && b.SequenceID != in.ID {
		err = fault.New(fault.NotFound, "There is no such job.")
	}
	return b, err
}

func (a *App) getBatch(ctx context.Context, in *BatchID) (*batchOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*batchOut, error) {
		b, err := in.readBatch(ctx, tx)
		if err != nil {
			return nil, err
		}
		return &batchOut{*b}, nil
	})
}

func (a *App) cancelBatch(ctx context.Context, in *BatchID) (*batchOut, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*batchOut, error) {
		if _, err := in.readBatch(ctx, tx); err != nil {
			return nil, err
		}
		b, err := enrolments.CancelBatch(ctx, tx, in.Batch)
		if err != nil {
			return nil, err
		}
		return &batchOut{*b}, nil
	})
}

type listSkippedIn struct {
	BatchID
	httpx.Page
}

type skippedList struct {
	Body httpx.List[enrolments.Result]
}

func (a *App) listSkipped(ctx context.Context, in *listSkippedIn) (*skippedList, error) {
	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	var after id.ID
	if from != nil {
		after = *from
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*skippedList, error) {
		if _, err := in.readBatch(ctx, tx); err != nil {
			return nil, err
		}

		rows, err := enrolments.SkippedOf(ctx, tx, in.Batch, after, in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows,
			func(r enrolments.Result) enrolments.Result { return r },
			func(r enrolments.Result) id.ID { return r.ContactID })
		return &skippedList{l}, err
	})
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
)

const bulkPath = contactsPath + "/bulk"

// mountBulk comes before mountContacts, whose GET of one contact would take "bulk" for an id.
func (a *App) mountBulk() {
	const tag = "Bulk changes"
	route(a, op{Method: http.MethodPost, Path: bulkPath, Need: member, Tag: tag, Title: "Change all contacts that a filter selects", Status: http.StatusAccepted, Writes: []string{contactbulk.Kind.Name()}, May: []int{http.StatusBadRequest}}, a.startBulk)
	route(a, op{Method: http.MethodGet, Path: bulkPath, Need: viewer, Tag: tag, Title: "List bulk changes, newest first"}, a.listBulks)
	route(a, op{Method: http.MethodGet, Path: bulkPath + "/{id}", Need: viewer, Tag: tag, Title: "Get a bulk change"}, a.getBulk)
	route(a, op{Method: http.MethodPost, Path: bulkPath + "/{id}/cancel", Need: member, Tag: tag, Title: "Stop a bulk change; what was done stays"}, a.cancelBulk)
}

// bulkAction is what is to be done to each contact.
type bulkAction struct {
	Type   string        `json:"type" enum:"update,tag,segment,archive,restore"`
	Patch  *contactPatch `json:"patch,omitempty" nullable:"false" doc:"Of update: the fields to set, as of a PATCH; an address cannot be among them"`
	Add    []string      `json:"add,omitempty" nullable:"false" maxItems:"50" doc:"Of tag and segment: what each contact gets"`
	Remove []string      `json:"remove,omitempty" nullable:"false" maxItems:"50" doc:"Of tag and segment: what each contact loses"`
}

type bulkIn struct {
	Body struct {
		Filter anything   `json:"filter" doc:"Whom it is about; see the filter language. Of restore: which archived contacts"`
		Action bulkAction `json:"action"`
		DryRun flag       `json:"dry_run" required:"false" doc:"Counts whom it would be about, and changes nothing"`
	}
}

type bulkStarted struct {
	Location string `header:"Location" doc:"Where the progress is"`
	Body     shownBulk
}

type bulkAnswer struct {
	Tagged
	Body shownBulk
}

func showBulk(b bulk.Bulk, err error) (*bulkAnswer, error) {
	if err != nil {
		return nil, err
	}
	tag, err := digest(b)
	return &bulkAnswer{tag, shownBulk{b}}, err
}

// shownBulk is a bulk change whose patch may hold null, which huma cannot tell from the Go type any.
type shownBulk struct{ bulk.Bulk }

// Schema is Bulk's.
func (shownBulk) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[bulk.Bulk](), true, "Bulk")
	r.SchemaFromRef(r.Schema(reflect.TypeFor[bulk.Action](), true, "Action").Ref).Properties["patch"].AdditionalProperties = true
	return s
}

func (a *App) startBulk(ctx context.Context, in *bulkIn) (*bulkStarted, error) {
	if err := neverNull(map[string]flag{"dry_run": in.Body.DryRun}); err != nil {
		return nil, err
	}
	return write(ctx, a, func(tx *postgres.Tx) (*bulkStarted, error) {
		action, err := in.Body.Action.vetted(ctx, tx)
		if err != nil {
			return nil, err
		}
		where, err := contacts.ParseFilter(ctx, tx, in.Body.Filter)
		if wrong, ok := errors.AsType[*filter.Error](err); ok {
			return nil, wrong.InBody("#/filter")
		}
		if err != nil {
			return nil, err
		}
		return begin(ctx, tx, action, where.JSON(), in.Body.DryRun.Value)
	})
}

// begin writes a bulk change down and adds its job.
func begin(ctx context.Context, tx *postgres.Tx, action bulk.Action, where json.RawMessage, dryRun bool) (*bulkStarted, error) {
	b, err := bulk.Ask(ctx, tx, action, where, dryRun)
	if err != nil {
		return nil, err
	}
	return &bulkStarted{Location: bulkPath + "/" + b.ID.String(), Body: shownBulk{b}}, contactbulk.Kind.Add(ctx, tx, contactbulk.Args{Bulk: b.ID})
}

// vetted is b as it will be done, or what is wrong with it.
func (b *bulkAction) vetted(ctx context.Context, tx *postgres.Tx) (bulk.Action, error) {
	const path = "action/"
	out := bulk.Action{Type: bulk.Type(b.Type), Add: b.Add, Remove: b.Remove}
	if b.Patch != nil {
		p := b.Patch.patch()
		if err := contacts.Vet(ctx, tx, &p, path+"patch/"); err != nil {
			return out, err
		}
		out.Patch = bulk.OfPatch(&p).Patch
	}
	if err := out.Check(path); err != nil {
		return out, err
	}
	if out.Type == bulk.Segment { // a dynamic one follows from its filter
		p := contacts.Patch{}
		p.Segment.Set, p.Segment.Value = true, append(append([]string{}, out.Add...), out.Remove...)
		if err := contacts.Vet(ctx, tx, &p, path); err != nil {
			return out, inside(err, path+"segment", path+"add")
		}
	}
	return out, nil
}

// inside moves the pointers of a validation fault from one member to another.
func inside(err error, from, to string) error {
	if f := fault.Of(err); f != nil {
		for i := range f.Fields {
			if rest, ok := strings.CutPrefix(f.Fields[i].Pointer, "#/"+from); ok {
				f.Fields[i].Pointer = "#/" + to + rest
			}
		}
	}
	return err
}

type bulkList struct {
	Body list[shownBulk]
}

func (a *App) listBulks(ctx context.Context, in *pageIn) (*bulkList, error) {
	before, err := after[id.ID](ctx, a, in.Page)
	if err != nil {
		return nil, err
	}
	return read(ctx, a, func(tx *postgres.Tx) (*bulkList, error) {
		rows, err := bulk.List(ctx, tx, before, in.Limit+1)
		if err != nil {
			return nil, err
		}
		out := &bulkList{}
		out.Body, err = listOf(ctx, a, in.Page, rows, func(b bulk.Bulk) shownBulk { return shownBulk{b} }, func(b bulk.Bulk) id.ID { return b.ID })
		if err == nil {
			err = in.add(ctx, tx, &out.Body.Total, bulk.Count)
		}
		return out, err
	})
}

// BulkID is the path of one bulk change.
type BulkID struct {
	ID id.ID `path:"id" format:"uuid"`
}

func (a *App) getBulk(ctx context.Context, in *BulkID) (*bulkAnswer, error) {
	return read(ctx, a, func(tx *postgres.Tx) (*bulkAnswer, error) {
		return showBulk(bulk.Get(ctx, tx, in.ID))
	})
}

func (a *App) cancelBulk(ctx context.Context, in *BulkID) (*bulkAnswer, error) {
	return write(ctx, a, func(tx *postgres.Tx) (*bulkAnswer, error) {
		return showBulk(bulk.Cancel(ctx, tx, in.ID))
	})
}

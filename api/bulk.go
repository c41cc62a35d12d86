package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/contactbulk"
)

const bulkPath = contactsPath + "/bulk"

// mountBulk must run before mountContacts, which would match "bulk" as the id of a contact.
func (a *App) mountBulk() {
	const tag = "Bulk changes"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "bulk_changes.create",
			Method: http.MethodPost, Path: bulkPath, Need: httpx.Member, Tag: tag,
			Title: "Change all contacts that a filter selects", Status: http.StatusAccepted,
			Writes: []string{contactbulk.Kind.Name()}, May: []int{http.StatusBadRequest},
		}, a.startBulk)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "bulk_changes.list",
			Method: http.MethodGet,
			Path:   bulkPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List bulk changes, newest first",
		},
		a.listBulks,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "bulk_changes.get",
			Method: http.MethodGet,
			Path:   bulkPath + "/{id}",
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a bulk change",
		},
		a.getBulk,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "bulk_changes.cancel",
			Method: http.MethodPost, Path: bulkPath + "/{id}/cancel", Need: httpx.Member, Tag: tag,
			Title: "Cancel a bulk change; changes already made are kept",
		}, a.cancelBulk)
}

// bulkActionInput is the action applied to each contact.
type bulkActionInput struct {
	Type   string                `json:"type" enum:"update,tag,segment,archive,restore"`
	Patch  *updateContactRequest `json:"patch,omitempty" nullable:"false" doc:"For update: fields to set, except email"`
	Add    []string              `json:"add,omitempty" maxItems:"50" doc:"For tag and segment: added to each contact"`
	Remove []string              `json:"remove,omitempty" maxItems:"50"`
}

// Descriptions implements wire.Describer.
func (bulkActionInput) Descriptions() map[string]string {
	return map[string]string{
		"type": "update sets fields; tag and segment add and remove keys; archive and restore take no other " +
			"member",
		"remove": "For tag and segment: removed from each contact",
	}
}

type createBulkChangeIn struct {
	Body struct {
		Filter httpx.RawJSON   `json:"filter" doc:"Which contacts: a filter. For restore: archived contacts"`
		Action bulkActionInput `json:"action" doc:"The change to apply to each matching contact"`
		DryRun httpx.Flag      `json:"dry_run" required:"false" doc:"Count the contacts without changing them"`
	}
}

type bulkStarted struct {
	Location string `header:"Location" doc:"Address of the progress"`
	Body     bulkChange
}

type bulkAnswer struct {
	httpx.Tagged
	Body bulkChange
}

func showBulk(b bulk.Change, err error) (*bulkAnswer, error) {
	if err != nil {
		return nil, err
	}
	tag, err := httpx.Digest(b)
	return &bulkAnswer{tag, bulkChange{b}}, err
}

// bulkChange is a bulk change. Its patch may hold null, which huma cannot derive from the Go type any.
type bulkChange struct{ bulk.Change }

// Schema returns the schema of bulk.Bulk.
func (bulkChange) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[bulk.Change](), true, "Bulk")
	r.SchemaFromRef(r.Schema(reflect.TypeFor[bulk.Action](), true,
		"Action").Ref).Properties["patch"].AdditionalProperties = true
	return s
}

func (a *App) startBulk(ctx context.Context, in *createBulkChangeIn) (*bulkStarted, error) {
	if err := httpx.NoNulls(map[string]httpx.Flag{"dry_run": in.Body.DryRun}); err != nil {
		return nil, err
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*bulkStarted, error) {
		action, err := in.Body.Action.toAction(ctx, tx)
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

		return startBulk(ctx, tx, action, where.JSON(), in.Body.DryRun.Value)
	})
}

// startBulk stores a bulk change and enqueues its job.
func startBulk(ctx context.Context, tx *postgres.Tx, action bulk.Action, where json.RawMessage,
	dryRun bool,
) (*bulkStarted, error) {
	b, err := bulk.Ask(ctx, tx, action, where, dryRun)
	if err != nil {
		return nil, err
	}
	return &bulkStarted{Location: bulkPath + "/" + b.ID.String(), Body: bulkChange{b}},
		contactbulk.Kind.Add(ctx, tx, contactbulk.Args{Bulk: b.ID})
}

// toAction returns the validated action, or a fault.
func (b *bulkActionInput) toAction(ctx context.Context, tx *postgres.Tx) (bulk.Action, error) {
	const path = "action/"
	out := bulk.Action{Type: bulk.Type(b.Type), Add: b.Add, Remove: b.Remove}
	if b.Patch != nil {
		p := b.Patch.toPatch()
		if p.Consent.Set {
			return out, fault.Invalid(path+"patch/consent", "not_allowed",
				"A consent is given by one person at a time.")
		}
		if err := contacts.ValidatePatch(ctx, tx, &p, path+"patch/"); err != nil {
			return out, err
		}
		out.Patch = bulk.OfPatch(&p).Patch
	}
	if err := out.Check(path); err != nil {
		return out, err
	}

	if out.Type == bulk.Segment { // its filter defines a dynamic segment's members
		p := contacts.Patch{}
		p.Segment.Set = true
		p.Segment.Value = append(append([]string{}, out.Add...), out.Remove...)
		if err := contacts.ValidatePatch(ctx, tx, &p, path); err != nil {
			return out, replacePointers(err, path+"segment", path+"add")
		}
	}

	return out, nil
}

// replacePointers rewrites the pointers of a validation fault from member from to member to.
func replacePointers(err error, from, to string) error {
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
	Body httpx.List[bulkChange]
}

func (a *App) listBulks(ctx context.Context, in *httpx.PageInput) (*bulkList, error) {
	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*bulkList, error) {
		rows, err := bulk.List(ctx, tx, before, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &bulkList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, rows, func(b bulk.Change) bulkChange {
			return bulkChange{b}
		}, func(b bulk.Change) id.ID { return b.ID })
		if err == nil {
			err = in.Add(ctx, tx, &out.Body.Total, bulk.Count)
		}

		return out, err
	})
}

// BulkID is the path parameter of one bulk change.
type BulkID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the bulk change"`
}

func (a *App) getBulk(ctx context.Context, in *BulkID) (*bulkAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*bulkAnswer, error) {
		return showBulk(bulk.Get(ctx, tx, in.ID))
	})
}

func (a *App) cancelBulk(ctx context.Context, in *BulkID) (*bulkAnswer, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*bulkAnswer, error) {
		return showBulk(bulk.Cancel(ctx, tx, in.ID))
	})
}

package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
)

const contactsPath = "/api/v1/crm/contacts"

func (a *App) mountContacts() {
	quota := quotaannounce.Kind.Name()
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.create",
			Method: http.MethodPost, Path: contactsPath, Need: httpx.Member, Tag: "Contacts", Title: "Create a contact",
			Status: http.StatusCreated, Writes: []string{"contact.created", quota},
		}, a.createContact)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "contacts.list",
			Method: http.MethodGet,
			Path:   contactsPath,
			Need:   httpx.Viewer,
			Tag:    "Contacts",
			Title:  "List contacts",
		},
		a.listContacts,
	)
	httpx.Route(a.Server, httpx.Op{
		ID:     "contacts.search",
		Method: http.MethodPost, Path: contactsPath + "/search", Need: httpx.Viewer, Tag: "Contacts", Open: true,
		Title: "List contacts, with the conditions in the body", May: []int{http.StatusBadRequest},
	}, a.searchContacts)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.upsert_batch",
			Method: http.MethodPost, Path: contactsPath + "/batch", Need: httpx.Member, Tag: "Contacts",
			Title: "Create or update up to 1000 contacts", MaxBody: httpx.BatchBodyBytes, ByRow: true,
			Writes: []string{"contact.created", "contact.updated", "contact.tagged", "lead.score", quota},
		},
		a.batchContacts)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.get",
			Method: http.MethodGet, Path: contactsPath + "/{id}", Need: httpx.Viewer, Tag: "Contacts",
			Title: "Get a contact",
		}, a.getContact)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.update",
			Method: http.MethodPatch, Path: contactsPath + "/{id}", Need: httpx.Member, Tag: "Contacts",
			Title: "Update a contact", Writes: []string{"contact.updated", "contact.tagged", "lead.score"},
		},
		a.patchContact)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.archive",
			Method: http.MethodDelete, Path: contactsPath + "/{id}", Need: httpx.Member, Tag: "Contacts",
			Title: "Archive a contact", Status: http.StatusNoContent, Writes: []string{"contact.archived"},
		},
		a.archiveContact)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.restore",
			Method: http.MethodPost, Path: contactsPath + "/{id}/restore", Need: httpx.Member, Tag: "Contacts",
			Title: "Restore an archived contact", Writes: []string{"contact.restored", "lead.score", quota},
		},
		a.restoreContact)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.purge",
			Method: http.MethodPost, Path: contactsPath + "/{id}/purge", Need: httpx.Member, Tag: "Contacts",
			Title: "Permanently erase a contact", Status: http.StatusNoContent, Writes: []string{"contact.purged"},
		},
		a.purgeContact)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.export_data",
			Method: http.MethodGet, Path: contactsPath + "/{id}/data-export", Need: httpx.Viewer, Tag: "Contacts",
			Title: "Export all data held on a contact",
		}, a.exportContact)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.get_score",
			Method: http.MethodGet, Path: contactsPath + "/{id}/score", Need: httpx.Viewer, Tag: "Contacts",
			Title: "Explain a contact's lead score",
		}, a.explainScore)
}

// ContactID is the path parameter of one contact.
type ContactID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the contact"`
}

type contactAnswer struct {
	httpx.Tagged
	Body contacts.Contact
}

func showContact(r *contacts.Row) *contactAnswer {
	return &contactAnswer{Tagged: httpx.ETag(r.Edit, r.Computed), Body: r.Contact}
}

type contactCreated struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the contact"`
	Body     contacts.Contact
}

func (a *App) createContact(ctx context.Context, in *struct{ Body createContactRequest }) (*contactCreated, error) {
	patch := in.Body.toPatch()
	respell := false
	create := func(model *scoring.Model, tx *postgres.Tx) (*contactCreated, error) {
		if respell {
			if err := contacts.Respell(ctx, tx, &patch); err != nil {
				return nil, err
			}
		}
		row, err := contacts.Create(tx, &patch, model.Rate)
		if err != nil {
			return nil, err
		}
		if err := contacts.Announce(ctx, tx, row.AsCreated()); err != nil {
			return nil, err
		}

		return &contactCreated{
			Tagged: httpx.ETag(row.Edit, row.Computed), Location: contactsPath + "/" + row.ID.String(),
			Body: row.Contact,
		}, nil
	}

	out, err := writeScored(ctx, a, create)
	for range spellingTries {
		if _, is := errors.AsType[*contacts.SpellingError](err); !is {
			break
		}
		respell = true
		out, err = writeScored(ctx, a, create)
	}
	return out, contacts.Resolve(ctx, a.DB, httpx.Who(ctx).Org, err)
}

// spellingTries is the number of further attempts of a write of names that the org has in another spelling.
const spellingTries = 3

// modelTries is the number of attempts of a write that needs the org's current model, since the model may change before
// the commit.
const modelTries = 3

// writeScored is httpx.Write for contacts that are created with their final scores: model is in use at the commit.
func writeScored[O any](
	ctx context.Context,
	a *App,
	fn func(model *scoring.Model, tx *postgres.Tx) (*O, error),
) (out *O, err error) {
	for range modelTries {
		model, number := a.Scores.ForConfirmed(ctx, httpx.Who(ctx).Org)
		out, err = httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*O, error) {
			models.Confirm(tx, number)
			return fn(model, tx)
		})
		if !errors.Is(err, models.ErrChanged) {
			return out, err
		}
		a.Scores.Forget(httpx.Who(ctx).Org)
	}
	return out, err
}

// scorer returns the scorer of the caller's org, which uses the org's current model.
func (a *App) scorer(ctx context.Context) contacts.Scorer {
	return a.Scores.For(ctx, httpx.Who(ctx).Org).Rate
}

func (a *App) getContact(ctx context.Context, in *struct {
	ContactID
	IncludeArchived bool `query:"include_archived" doc:"Also find an archived contact"`
},
) (*contactAnswer, error) {
	row, err := contacts.Show(ctx, a.DB, httpx.Who(ctx).Org, in.ID, in.IncludeArchived)
	if err != nil {
		return nil, err
	}
	return showContact(&row), nil
}

func (a *App) patchContact(ctx context.Context, in *struct {
	ContactID
	httpx.IfMatch
	Body updateContactRequest
},
) (*contactAnswer, error) {
	patch := in.Body.toPatch()
	rate := a.scorer(ctx)
	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*contactAnswer, error) {
		ch, err := contacts.Update(ctx, tx, in.ID, in.Check, &patch, rate)
		if err != nil {
			return nil, err
		}
		if err := announceUpdate(ctx, tx, &ch); err != nil {
			return nil, err
		}
		if was := ch.Before(); ch.Changed() && was.Email != ch.Email {
			service := suppression.Service{Box: a.Box}
			if err := service.Follow(ctx, tx, was.Email, ch.Email); err != nil {
				return nil, err
			}
		}
		return showContact(&ch.Row), nil
	})
	return out, contacts.Resolve(ctx, a.DB, httpx.Who(ctx).Org, err)
}

// announceUpdate announces an update and enqueues the scoring job if the change affects the score.
func announceUpdate(ctx context.Context, tx *postgres.Tx, ch *contacts.Change) error {
	if !ch.Changed() {
		return nil
	}
	if err := contacts.Announce(ctx, tx, ch); err != nil {
		return err
	}
	if !scoring.Differs(ch.Before(), &ch.Contact) {
		return nil
	}
	return enqueueScoring(ctx, tx, ch.ID)
}

// enqueueScoring enqueues jobs that score the contacts, with as many contacts per job as one allows.
func enqueueScoring(ctx context.Context, tx *postgres.Tx, ids ...id.ID) error {
	for _, args := range (leadscore.Args{Contacts: ids}).Split() {
		if err := leadscore.Kind.Add(ctx, tx, args); err != nil {
			return err
		}
	}
	return nil
}

// noContact is the output of a 204.
type noContact struct{}

func (a *App) archiveContact(ctx context.Context, in *struct {
	ContactID
	httpx.IfMatch
},
) (*noContact, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*noContact, error) {
		ch, err := contacts.Archive(ctx, tx, in.ID, in.Check)
		if err != nil || !ch.Changed() {
			return &noContact{}, err
		}
		return &noContact{}, contacts.Announce(ctx, tx, &ch)
	})
}

func (a *App) restoreContact(ctx context.Context, in *ContactID) (*contactAnswer, error) {
	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*contactAnswer, error) {
		ch, err := contacts.Restore(ctx, tx, in.ID)
		if err != nil || !ch.Changed() {
			return showContact(&ch.Row), err
		}
		if err := contacts.Announce(ctx, tx, &ch); err != nil {
			return nil, err
		}
		return showContact(&ch.Row), enqueueScoring(ctx, tx, ch.ID)
	})
	return out, contacts.Resolve(ctx, a.DB, httpx.Who(ctx).Org, err)
}

package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/companies"
	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

const companiesPath = "/api/v1/crm/companies"

func (a *App) mountCompanies() {
	r := records[companies.Company, companies.Patch]{
		App: a, path: companiesPath, id: func(c *companies.Company) id.ID { return c.ID },
		create: func(_ context.Context, tx *postgres.Tx, p *companies.Patch) (companies.Row, error) {
			return companies.Create(tx, p)
		},
		get:      companies.Get,
		update:   companies.Update,
		archive:  companies.Archive,
		restore:  companies.Restore,
		announce: announceCompany,
		resolve: func(ctx context.Context, err error) error {
			return companies.Resolve(ctx, a.DB, httpx.Who(ctx).Org, err)
		},
	}
	const tag = "Companies"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "companies.create",
			Method: http.MethodPost, Path: companiesPath, Need: httpx.Member, Tag: tag, Title: "Create a company",
			Status: http.StatusCreated, Writes: []string{"company.created"},
		}, createHandler(r, (*createCompanyRequest).toPatch))
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "companies.list",
			Method: http.MethodGet,
			Path:   companiesPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List companies",
		},
		a.listCompanies,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "companies.upsert_batch",
			Method: http.MethodPost, Path: companiesPath + "/batch", Need: httpx.Member, Tag: tag,
			Title: "Create or update up to 1000 companies", MaxBody: httpx.BatchBodyBytes, ByRow: true,
			Writes: []string{"company.created", "company.updated"},
		}, a.batchCompanies)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "companies.get",
			Method: http.MethodGet,
			Path:   companiesPath + "/{id}",
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a company",
		},
		r.getRecord,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "companies.update",
			Method: http.MethodPatch,
			Path:   companiesPath + "/{id}",
			Need:   httpx.Member,
			Tag:    tag,
			Title:  "Update a company",
			Writes: []string{"company.updated"},
		}, updateHandler(r, (*updateCompanyRequest).toPatch))
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "companies.archive",
			Method: http.MethodDelete, Path: companiesPath + "/{id}", Need: httpx.Member, Tag: tag,
			Title: "Archive a company", Status: http.StatusNoContent, Writes: []string{"company.archived"},
		}, r.archiveRecord)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "companies.restore",
			Method: http.MethodPost, Path: companiesPath + "/{id}/restore", Need: httpx.Member, Tag: tag,
			Title: "Restore an archived company", Writes: []string{"company.restored"},
		}, r.restoreRecord)
}

func announceCompany(ctx context.Context, tx *postgres.Tx, ch *companies.Change) error {
	return announceAll(ctx, tx, companies.Events(ch))
}

// CompanyFields are the members common to every company body.
type CompanyFields struct {
	Domain   httpx.Optional[string] `json:"domain" required:"false"`
	Website  httpx.Optional[string] `json:"website" required:"false"`
	Industry httpx.Optional[string] `json:"industry" required:"false" doc:"Industry, free text up to 200 characters"`
	Size     httpx.Optional[string] `json:"size" required:"false" doc:"Free text, such as 11-50; up to 50 characters"`
	Phone    httpx.Optional[string] `json:"phone" required:"false" doc:"Phone number, free text up to 50 characters"`
	OwnerID  httpx.Optional[string] `json:"owner_id" required:"false" doc:"ID of the user who owns the company"`

	ExternalIDs httpx.Optional[map[string]any] `json:"external_ids" required:"false"`

	UpdatedAt  httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (CompanyFields) Descriptions() map[string]string {
	return map[string]string{
		"domain":       "Such as example.com; stored in lower-case ASCII. One live company per domain",
		"external_ids": "Ids in other systems, by system; null removes",
		"website":      "Address of the website, up to 2000 characters",
	}
}

func (f *CompanyFields) toPatch(name httpx.Optional[string], readOnly map[string]httpx.RawJSON) companies.Patch {
	p := companies.Patch{
		Name: name.Field, Domain: f.Domain.Field, Website: f.Website.Field, Industry: f.Industry.Field,
		Size:  f.Size.Field,
		Phone: f.Phone.Field, OwnerID: f.OwnerID.Field, ExternalIDs: f.ExternalIDs.Field,
	}
	p.Refuse("updated_at", json.RawMessage(f.UpdatedAt))
	p.Refuse("archived_at", json.RawMessage(f.ArchivedAt))
	for name, sent := range readOnly {
		p.Refuse(name, json.RawMessage(sent))
	}

	return p
}

// createCompanyRequest is the body of a create request.
type createCompanyRequest struct {
	Name httpx.Optional[string] `json:"name" doc:"Name of the company, 1 to 200 characters"`
	CompanyFields
	ID        httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	CreatedAt httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
}

func (b *createCompanyRequest) toPatch() companies.Patch {
	return b.CompanyFields.toPatch(b.Name, map[string]httpx.RawJSON{"id": b.ID, "created_at": b.CreatedAt})
}

// updateCompanyRequest is the body of a PATCH request.
type updateCompanyRequest struct {
	Name httpx.Optional[string] `json:"name" required:"false" doc:"Name of the company, 1 to 200 characters; not null"`
	CompanyFields
	ID        httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	CreatedAt httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
}

func (b *updateCompanyRequest) toPatch() companies.Patch {
	return b.CompanyFields.toPatch(b.Name, map[string]httpx.RawJSON{"id": b.ID, "created_at": b.CreatedAt})
}

// companyRow is one row of a batch request.
type companyRow struct {
	ID   httpx.Optional[string] `json:"id" required:"false"`
	Name httpx.Optional[string] `json:"name" required:"false" doc:"1 to 200 characters; required for a new company"`
	CompanyFields
	CreatedAt httpx.Optional[string] `json:"created_at" required:"false" doc:"RFC 3339; only for a new company"`
}

// Descriptions implements wire.Describer.
func (companyRow) Descriptions() map[string]string {
	return map[string]string{
		"id": "Company to change; if absent, the live one with one of external_ids, else with this domain; without " +
			"a domain the only live one of this name, ignoring case; else a new one",
	}
}

// companyBatchRequest is the body of a batch request, for the API document.
type companyBatchRequest struct {
	Companies []companyRow `json:"companies" minItems:"1" maxItems:"1000" doc:"In order; an invalid row fails alone"`
}

func (a *App) batchCompanies(ctx context.Context, in *struct {
	Body batchRows[companyBatchRequest]
},
) (*recordBatchResultsOut, error) {
	sent, wrong, err := rowsOf[companyRow](a, &in.Body)
	if err != nil {
		return nil, err
	}

	rows := make([]companies.Upsert, len(sent))
	for i := range sent {
		rows[i] = companies.Upsert{
			ID: sent[i].ID.Field, Patch: sent[i].CompanyFields.toPatch(sent[i].Name, nil),
			Wrong: wrong[i],
		}
		rows[i].CreatedAt = sent[i].CreatedAt.Field
	}

	return writeBatch(ctx, a, func(tx *postgres.Tx) ([]record.Outcome, []companies.Change, error) {
		return companies.UpsertAll(ctx, tx, rows)
	}, announceCompany)
}

type companyQuery struct {
	httpx.Page
	CountQuery
	Q      string `query:"q" maxLength:"200" doc:"Words, each a prefix of a word in name or domain"`
	Domain string `query:"domain" maxLength:"253" doc:"Only the company with this domain, such as example.com"`
	ExternalIDQuery
	OwnerID  string `query:"owner_id" format:"uuid" doc:"Only companies of this owner, a user's ID"`
	Sort     string `query:"sort" enum:"-created_at,created_at,name" default:"-created_at"`
	Archived bool   `query:"archived" doc:"List archived companies instead of live ones"`
}

// Descriptions implements wire.Describer.
func (companyQuery) Descriptions() map[string]string {
	return map[string]string{
		"sort": "Order of the list; a leading minus is descending",
	}
}

func (q *companyQuery) toFilter() (f *companies.Filter, err error) {
	f = &companies.Filter{Archived: q.Archived}
	if f.Words, err = wordsOf(q.Q); err != nil {
		return nil, err
	}

	if q.Domain != "" {
		var ok bool
		if f.Domain, ok = companies.Domain(q.Domain); !ok {
			return nil, fault.Parameter("domain", "invalid_format", "This is not the name of a domain.")
		}
	}

	if f.ExternalID, err = externalIDParameter(q.ExternalID); err != nil {
		return nil, err
	}
	f.Owner, err = uuidParameter("owner_id", q.OwnerID)
	return f, err
}

// wordsOf parses the query parameter q.
func wordsOf(q string) ([]string, error) {
	words := compare.Words(q)
	if len(words) > maxTerms {
		return nil, fault.Parameter("q", "too_many", "At most 8 words are allowed.")
	}
	if len(words) == 0 && strings.TrimSpace(q) != "" {
		return nil, fault.Parameter("q", "invalid_format", "There is no letter or digit to look for.")
	}
	return words, nil
}

func (a *App) listCompanies(ctx context.Context, in *companyQuery) (*recordList[companies.Company], error) {
	f, err := in.toFilter()
	if err != nil {
		return nil, err
	}

	return listHandler(ctx, a, in.Page, in.Count, listing[companies.Company]{
		rows: func(ctx context.Context, tx *postgres.Tx, after *record.Position, limit int) ([]companies.Row, error) {
			return companies.List(ctx, tx, f, in.Sort, after, limit)
		},
		position: func(r *companies.Row) record.Position { return companies.Position(in.Sort, r) },
		count:    func(ctx context.Context, tx *postgres.Tx) (int64, error) { return companies.Count(ctx, tx, f) },
		estimate: func(ctx context.Context, tx *postgres.Tx) (int64, error) { return companies.Estimate(ctx, tx, f) },
	})
}

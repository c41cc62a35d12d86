package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/command/demo/plan"
	"github.com/funnelwork/funnelwork/internal/companies"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// some is a field of a patch, or none for an empty text.
func some(s string) (f wire.Field[string]) {
	if s != "" {
		f = wire.Some(s)
	}
	return f
}

func (c *chunk) createCompanies(ctx context.Context) error {
	var rows []companies.Upsert
	from := map[id.ID]numbered{}
	for _, a := range c.by[plan.CreateCompany] {
		of := &c.plan.Companies[a.Of]
		u := companies.Upsert{NewID: c.company(a.Of)}
		u.Name, u.Domain, u.Industry, u.Size = some(of.Name), some(of.Domain), some(of.Industry), some(of.Size)
		u.Website, u.OwnerID = some("https://"+of.Domain), some(c.owner(a.Of).String())
		u.CreatedAt = some(wire.At(a.At).String())
		rows, from[u.NewID] = append(rows, u), a
	}
	if len(rows) == 0 {
		return nil
	}
	outcomes, changed, err := companies.UpsertAll(ctx, c.tx, rows)
	if err != nil {
		return err
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.Result != record.Created {
			return unwritten("company "+rows[i].Domain.Value, o.Result, o.Fault)
		}
	}
	var (
		ids []id.ID
		at  []time.Time
	)
	for i := range changed {
		v := &changed[i].Value
		a := from[v.ID]
		v.UpdatedAt = wire.At(a.At)
		ids, at = append(ids, v.ID), append(at, a.At)
		c.happened(a, c.user(a.Of), companies.Events(&changed[i]))
	}
	companies.SetUpdated(c.tx, ids, at)
	return nil
}

// unwritten returns the error for a row of the plan that could not be written.
func unwritten(what, result string, f error) error {
	if result == record.Failed {
		return fmt.Errorf("%s: %w", what, f)
	}
	return fmt.Errorf("%s exists already", what)
}

// webinar is the static segment of the contacts who came by a webinar.
const webinar = "webinar-guests"

func (c *chunk) createContacts(ctx context.Context) error {
	var rows []contacts.Upsert
	from := map[id.ID]numbered{}
	for _, a := range c.by[plan.CreateContact] {
		of := &c.plan.Contacts[a.Of]
		u := contacts.Upsert{NewID: c.contact(a.Of)}
		u.Email, u.FirstName, u.LastName = some(of.Email), some(of.FirstName), some(of.LastName)
		u.JobTitle, u.Phone, u.Source, u.TimeZone = some(of.Title), some(of.Phone), some(of.Source), some(of.Zone)
		u.Stage, u.Tag, u.Attributes = some(of.Stage), wire.Some(of.Tags), wire.Some(of.Attributes)
		u.CreatedAt = some(wire.At(a.At).String())
		if of.Company != plan.None {
			u.CompanyID = some(c.company(of.Company).String())
		}
		if a.Of%3 > 0 {
			u.OwnerID = some(c.owner(a.Of).String())
		}
		if of.Source == "webinar" {
			u.Segment = wire.Some([]string{webinar})
		}
		rows, from[u.NewID] = append(rows, u), a
	}
	made, _, err := c.upsert(ctx, rows, contacts.Created)
	if err != nil {
		return err
	}
	for i := range made {
		a := from[made[i].ID]
		by := c.user(a.Of)
		switch *made[i].Source {
		case "website", "organic", "ads": // by a form
			by = events.Origin{ActorType: "system"}
		}
		c.dated(&made[i], a, by)
	}
	c.dateBack(made)
	return nil
}

func (c *chunk) moveContacts(ctx context.Context) error {
	var rows []contacts.Upsert
	from := map[id.ID]numbered{}
	for _, a := range c.by[plan.MoveContact] {
		u := contacts.Upsert{ID: some(c.contact(a.Of).String())}
		u.Stage, u.Tag = some(a.Stage), wire.Some(c.addTag(&a.Action))
		// Several moves of a contact are one change, with the last time.
		rows, from[c.contact(a.Of)] = append(rows, u), a
	}
	_, changed, err := c.upsert(ctx, rows, "")
	if err != nil {
		return err
	}
	for i := range changed {
		a := from[changed[i].ID]
		c.dated(&changed[i], a, c.user(a.Of))
	}
	c.dateBack(changed)
	return nil
}

// upsert writes rows of contacts. Each must have the result want, or any but an error if want is "".
func (c *chunk) upsert(ctx context.Context, rows []contacts.Upsert, want string) (made, changed []contacts.Change,
	err error,
) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	model, err := c.Model(ctx, c.tx)
	if err != nil {
		return nil, nil, err
	}
	outcomes, made, changed, err := contacts.Batch{Rate: model.Rate}.Upsert(ctx, c.tx, rows)
	if err != nil {
		return nil, nil, err
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.Result == contacts.Failed || want != "" && o.Result != want {
			return nil, nil, unwritten("contact "+rows[i].Email.Value+rows[i].ID.Value, o.Result, o.Fault)
		}
	}
	return made, changed, nil
}

// dated gives a change the time of its action, and adds its events.
func (c *chunk) dated(ch *contacts.Change, a numbered, by events.Origin) {
	ch.UpdatedAt = wire.At(a.At)
	c.happened(a, by, ch.Events())
}

// dateBack writes the times of changes, and records the scores at these times.
func (c *chunk) dateBack(changed []contacts.Change) {
	var (
		ids []id.ID
		at  []time.Time
	)
	for i := range changed {
		ids, at = append(ids, changed[i].ID), append(at, changed[i].UpdatedAt.Time)
	}
	contacts.SetUpdated(c.tx, ids, at)
	contacts.RecordScores(c.tx, changed)
}

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

// textField is a field of a patch, or none for an empty text.
func textField(s string) (f wire.Field[string]) {
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
		u := companies.Upsert{NewID: c.companyID(a.Of)}
		u.Name = textField(of.Name)
		u.Domain = textField(of.Domain)
		u.Industry = textField(of.Industry)
		u.Size = textField(of.Size)
		u.Website, u.OwnerID = textField("https://"+of.Domain), textField(c.ownerID(a.Of).String())
		u.CreatedAt = textField(wire.At(a.At).String())
		rows = append(rows, u)
		from[u.NewID] = a
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
			return rowError("company "+rows[i].Domain.Value, o.Result, o.Fault)
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
		ids = append(ids, v.ID)
		at = append(at, a.At)
		c.addEvents(a, c.userOrigin(a.Of), companies.Events(&changed[i]))
	}

	companies.SetUpdated(c.tx, ids, at)

	return nil
}

// rowError returns the error for a row of the plan that could not be written.
func rowError(what, result string, f error) error {
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
		u := contacts.Upsert{NewID: c.contactID(a.Of)}
		u.Email = textField(of.Email)
		u.FirstName = textField(of.FirstName)
		u.LastName = textField(of.LastName)
		u.JobTitle = textField(of.Title)
		u.Phone = textField(of.Phone)
		u.Source = textField(of.Source)
		u.TimeZone = textField(of.Zone)
		u.Stage = textField(of.Stage)
		u.Tag = wire.Some(of.Tags)
		u.Attributes = wire.Some(of.Attributes)
		u.CreatedAt = textField(wire.At(a.At).String())
		if of.Company != plan.None {
			u.CompanyID = textField(c.companyID(of.Company).String())
		}
		if a.Of%3 > 0 {
			u.OwnerID = textField(c.ownerID(a.Of).String())
		}
		if of.Source == "webinar" {
			u.Segment = wire.Some([]string{webinar})
		}

		rows = append(rows, u)
		from[u.NewID] = a
	}

	made, _, err := c.upsertRows(ctx, rows, contacts.Created)
	if err != nil {
		return err
	}

	for i := range made {
		a := from[made[i].ID]
		by := c.userOrigin(a.Of)
		switch *made[i].Source {
		case "website", "organic", "ads": // by a form
			by = events.Origin{ActorType: "system"}
		}
		c.dateChange(&made[i], a, by)
	}

	c.dateBack(made)

	return nil
}

func (c *chunk) moveContacts(ctx context.Context) error {
	var rows []contacts.Upsert
	from := map[id.ID]numbered{}
	for _, a := range c.by[plan.MoveContact] {
		u := contacts.Upsert{ID: textField(c.contactID(a.Of).String())}
		u.Stage, u.Tag = textField(a.Stage), wire.Some(c.addTag(&a.Action))
		// Several moves of a contact are one change, with the last time.
		rows = append(rows, u)
		from[c.contactID(a.Of)] = a
	}

	_, changed, err := c.upsertRows(ctx, rows, "")
	if err != nil {
		return err
	}

	for i := range changed {
		a := from[changed[i].ID]
		c.dateChange(&changed[i], a, c.userOrigin(a.Of))
	}

	c.dateBack(changed)

	return nil
}

// upsertRows writes rows of contacts. Each must have the result want, or any but an error if want is "".
func (c *chunk) upsertRows(ctx context.Context, rows []contacts.Upsert, want string) (made, changed []contacts.Change,
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
			return nil, nil, rowError("contact "+rows[i].Email.Value+rows[i].ID.Value, o.Result, o.Fault)
		}
	}

	return made, changed, nil
}

// dateChange gives a change the time of its action, and adds its events.
func (c *chunk) dateChange(ch *contacts.Change, a numbered, by events.Origin) {
	ch.UpdatedAt = wire.At(a.At)
	c.addEvents(a, by, ch.Events())
}

// dateBack writes the times of changes, and records the scores at these times.
func (c *chunk) dateBack(changed []contacts.Change) {
	var (
		ids []id.ID
		at  []time.Time
	)

	for i := range changed {
		ids = append(ids, changed[i].ID)
		at = append(at, changed[i].UpdatedAt.Time)
	}

	contacts.SetUpdated(c.tx, ids, at)
	contacts.RecordScores(c.tx, changed)
}

package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/templates"
)

// sequenceGround returns the checks of a sequence that depend on the org's contacts.
func sequenceGround(ctx context.Context, tx *postgres.Tx) (*sequences.Ground, error) {
	sending, err := orgsending.Read(ctx, tx)
	if err != nil {
		return nil, err
	}

	return &sequences.Ground{
		StopOn:    sequences.StopOn(sending.StopOn),
		Goal:      contacts.Parser(ctx, tx),
		Condition: contacts.ParserWith(ctx, tx, steps.FactTypes()),
		Update: func(path string, set map[string]any) (map[string]any, error) {
			return contactUpdate(ctx, tx, path, set)
		},
	}, nil
}

// contactUpdate checks the fields that a step sets and returns them in their stored form.
func contactUpdate(ctx context.Context, tx *postgres.Tx, path string, set map[string]any) (map[string]any, error) {
	for _, name := range []string{"email", "tag", "consent", "created_at"} {
		if _, sent := set[name]; sent {
			return nil, fault.Invalid(path+name, "not_allowed", "A step cannot set this field.")
		}
	}

	raw, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encode update: %w", err)
	}

	var body updateContactRequest
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		const detail = "These are not fields of a contact with their values."
		return nil, fault.Invalid(strings.TrimSuffix(path, "/"), "invalid_value", detail).Because(err)
	}

	p := body.toPatch()
	if err := contacts.ValidatePatch(ctx, tx, &p, path); err != nil {
		return nil, err
	}

	return bulk.OfPatch(&p).Patch, nil
}

// sequenceGates returns what keeps sequences from being activated.
func (a *App) sequenceGates(ctx context.Context, tx *postgres.Tx) (*sequences.Gates, error) {
	sending, err := orgsending.Read(ctx, tx)
	if err != nil {
		return nil, err
	}

	address := ""
	if sending.PostalAddress != nil {
		address = *sending.PostalAddress
	}

	return &sequences.Gates{
		PostalAddress: address, AllowPrivate: a.Mailboxes.AllowPrivate,
		Lint: func(source compose.Source) ([]compose.Finding, error) {
			return templates.Lint(ctx, tx, source)
		},
	}, nil
}

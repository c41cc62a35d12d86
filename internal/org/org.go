// Package org manages orgs, their members, invitations and API keys, and the audit log of their changes.
package org

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Org is an organization as the API shows it to its members.
type Org struct {
	events.Organization
	Plan string `json:"plan" doc:"Key of the plan in effect; client for an agency's client org"`
	Edit int64  `json:"-"`
	// Computed changes with the plan.
	Computed int64 `json:"-"`
	// Agency is the agency whose client this org is, else zero.
	Agency id.ID `json:"-"`
}

// Limits on names and settings.
const (
	nameMax     = 200
	stagesMax   = 50
	settingsMax = 16 << 10 // bytes of JSON
)

// CheckName rejects a name that is empty, too long or has several lines. field is its place in the request.
func CheckName(field, name string) error {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		return fault.Invalid(field, "required", "A name is needed.")
	case n > nameMax:
		return fault.Invalid(field, "too_long", fmt.Sprintf("A name has at most %d characters.", nameMax))
	}
	return form.CheckLine(field, name)
}

// Create inserts an org and its owner in tx, which runs as System under the new org's id. The org starts on the trial
// plan.
func Create(tx *postgres.Tx, name string, owner id.ID) {
	tx.Queue(`INSERT INTO org (id, name) VALUES ($1, $2)`, tx.Org(), name)
	tx.Queue(`INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, 'owner')`, tx.Org(), owner)
}

const readSQL = `SELECT id, name, settings, stages, plan, created_at, updated_at, edit, computed,
	coalesce(parent_org_id, '00000000-0000-0000-0000-000000000000') FROM org WHERE id = $1`

// Read returns tx's org.
func Read(ctx context.Context, tx *postgres.Tx) (*Org, error) { return readOrg(ctx, tx, readSQL) }

// IsSuspended reports whether an operator has suspended tx's org. It is for callers that have no credential of the org:
// the others are refused by the API.
func IsSuspended(ctx context.Context, tx *postgres.Tx) (is bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM org WHERE id = $1 AND suspended_at IS NOT NULL)`,
		[]any{tx.Org()}, &is)
	if err != nil {
		return false, fmt.Errorf("read suspension: %w", err)
	}
	return is, nil
}

func readOrg(ctx context.Context, tx *postgres.Tx, query string) (*Org, error) {
	var (
		o        Org
		settings []byte
		stages   []string
	)

	err := tx.QueryRow(ctx, query, []any{tx.Org()}, &o.ID, &o.Name, &settings, &stages, &o.Plan, &o.CreatedAt,
		&o.UpdatedAt, &o.Edit, &o.Computed, &o.Agency)
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, "There is no such organization.")
	}
	if err != nil {
		return nil, fmt.Errorf("read org: %w", err)
	}

	d := json.NewDecoder(bytes.NewReader(settings))
	d.UseNumber()
	if err := d.Decode(&o.Settings); err != nil {
		return nil, fmt.Errorf("read org settings: %w", err)
	}

	o.Settings["stages"] = stages

	return &o, nil
}

// Patch is a merge patch of an org. Settings are merged member by member at every depth. "stages" and "time_zone" are
// validated; the org may use all other members freely.
type Patch struct {
	Name     wire.Field[string]
	Settings wire.Field[map[string]any]
}

// Update applies p to tx's org and returns the result. It calls check with the locked row's edit. A patch without any
// change writes nothing.
func Update(ctx context.Context, tx *postgres.Tx, p Patch, check func(edit int64) error) (*Org, error) {
	o, err := readOrg(ctx, tx, readSQL+" FOR UPDATE")
	if err != nil {
		return nil, err
	}
	if err := check(o.Edit); err != nil {
		return nil, err
	}

	previous := map[string]any{}
	if p.Name.Set {
		if err := CheckName("name", p.Name.Value); err != nil {
			return nil, err
		}
		if p.Name.Value != o.Name {
			previous["name"] = o.Name
			o.Name = p.Name.Value
		}
	}

	before := o.Settings
	if p.Settings.Set {
		if p.Settings.Null {
			return nil, fault.Invalid("settings", "not_nullable", "Settings are cleared one by one.")
		}
		o.Settings = mergePatch(before, p.Settings.Value)
	}

	stages, rest, err := checkSettings(o.Settings)
	if err != nil {
		return nil, err
	}

	o.Settings = maps.Clone(rest)
	o.Settings["stages"] = stages
	if !sameJSON(before, o.Settings) {
		previous["settings"] = before
	}
	if len(previous) == 0 {
		return o, nil
	}

	encoded, err := json.Marshal(rest)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}

	err = tx.QueryRow(ctx, `
		UPDATE org SET name = $2, settings = $3, stages = $4, updated_at = clock_timestamp(), edit = edit + 1
		WHERE id = $1 RETURNING updated_at, edit`, []any{tx.Org(), o.Name, encoded, stages}, &o.UpdatedAt, &o.Edit)
	if err != nil {
		return nil, fmt.Errorf("write org: %w", err)
	}

	Audit(ctx, tx,
		Entry{
			Action: "organization.updated", Target: "organization", ID: tx.Org().String(),
			Detail: map[string]any{"changed": slices.Sorted(maps.Keys(previous))},
		})

	return o, events.Announce(ctx, tx, events.OrganizationUpdated{Organization: o.Organization, Previous: previous})
}

// mergePatch implements RFC 7396 for decoded objects. It does not modify its arguments.
func mergePatch(to, patch map[string]any) map[string]any {
	out := maps.Clone(to)
	if out == nil {
		out = map[string]any{}
	}

	for k, v := range patch {
		if v == nil {
			delete(out, k)
			continue
		}
		if inner, ok := v.(map[string]any); ok {
			at, _ := out[k].(map[string]any)
			out[k] = mergePatch(at, inner)
			continue
		}

		out[k] = v
	}

	return out
}

// firstStages returns the stages of a new org, as in the table's default.
func firstStages() []string {
	return []string{"subscriber", "lead", "mql", "sql", "opportunity", "customer", "evangelist", "other"}
}

// checkSettings splits settings into the stages, which have a column, and the rest, and validates both.
func checkSettings(settings map[string]any) (stages []string, rest map[string]any, err error) {
	rest = maps.Clone(settings)
	delete(rest, "stages")
	switch v := settings["stages"].(type) {
	case nil: // cleared
		stages = firstStages()
	case []string:
		stages = v
	case []any:
		for i, one := range v {
			name, ok := one.(string)
			if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 64 || strings.Contains(name, ",") ||
				compare.Text(name) == "" ||
				slices.ContainsFunc(stages, func(s string) bool { return compare.Equal(s, name) }) {
				return nil, nil,
					fault.Invalid(fmt.Sprintf("settings/stages/%d", i), "invalid_stage",
						"A stage is a string of 1 to 64 characters without commas, and is listed once.")
			}
			if err := form.CheckLine(fmt.Sprintf("settings/stages/%d", i), name); err != nil {
				return nil, nil, err
			}

			stages = append(stages, name)
		}
		if len(stages) == 0 || len(stages) > stagesMax || !slices.Contains(stages, "lead") {
			return nil, nil,
				fault.Invalid("settings/stages", "invalid_stages",
					fmt.Sprintf("Want 1 to %d stages, lead among them.", stagesMax))
		}
	default:
		return nil, nil, fault.Invalid("settings/stages", "invalid_type", "Want an array of strings.")
	}

	if zone, ok := rest["time_zone"]; ok {
		name, isText := zone.(string)
		if _, err := time.LoadLocation(name); !isText || name == "" || name == "Local" || err != nil {
			return nil, nil,
				fault.Invalid("settings/time_zone", "invalid_time_zone",
					"Want the name of a zone such as Europe/Berlin.")
		}
	}
	if size, err := json.Marshal(rest); err != nil || len(size) > settingsMax {
		return nil, nil, fault.Invalid("settings", "too_long", "Settings take at most 16 KiB.")
	}

	return stages, rest, nil
}

// sameJSON reports whether two decoded objects have the same JSON, with sorted members.
func sameJSON(a, b map[string]any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

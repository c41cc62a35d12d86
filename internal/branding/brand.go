package branding

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// HostResolver resolves a host (lower case, without a port) to the org that it serves, from memory.
type HostResolver interface {
	Org(host string) (id.ID, bool)
}

// Settings are an org's brand settings, regardless of whether its plan permits their display.
type Settings struct {
	Name         *string
	Colors       *Palette // nil: the platform's
	HideBrand    bool
	SupportEmail *string
	Logo         *LogoInfo
	UpdatedAt    *wire.Time // nil: never set
	Edit         int64      // 0: never set
}

// LogoInfo is a logo without its bytes.
type LogoInfo struct {
	Digest        string // hex SHA-256, part of its public path
	Type          string // image/png, image/jpeg or image/svg+xml
	Width, Height int    // in pixels; for an SVG, the sides of its view box
}

// Path returns the public path of the logo. The content under a path never changes.
func (l *LogoInfo) Path() string { return LogoPath + l.Digest }

// LogoPath is the prefix of every Path.
const LogoPath = "/white-label/brand/logo/"

// NameMax is the maximum number of characters of a name.
const NameMax = 80

// Own reports whether the org has its own name, colours or logo.
func (s *Settings) Own() bool { return s.Name != nil || s.Colors != nil || s.Logo != nil }

// Palette returns the org's colours, or the platform's if none are set.
func (s *Settings) Palette() Palette {
	if s.Colors == nil {
		return DefaultPalette
	}
	return *s.Colors
}

// Event returns s in the form used by events; base is the public address without a trailing slash.
func (s *Settings) Event(base string) events.Brand {
	p := s.Palette()
	e := events.Brand{
		BrandName: s.Name, HideBrand: s.HideBrand, SupportEmail: s.SupportEmail,
		Colors: events.BrandColors{
			Primary: p.Primary.String(), Accent: p.Accent.String(),
			Background: p.Background.String(), Text: p.Text.String(),
		},
	}
	if l := s.Logo; l != nil {
		e.Logo = &events.BrandLogo{URL: base + l.Path(), ContentType: l.Type, Width: l.Width, Height: l.Height}
	}

	return e
}

// columns is the column list of Settings; must match row.
const columns = `brand_name, color_primary, color_accent, color_background, color_text, coalesce(hide_brand, false),
	support_email,
	logo_digest, logo_type, logo_width, logo_height, b.updated_at, coalesce(b.edit, 0)`

// row is the scan target of columns.
type row struct {
	Settings
	colors [4]*string
	digest *string
	kind   *string
	width  *int
	height *int
	at     *wire.Time
}

func (r *row) scanTargets() []any {
	return []any{
		&r.Name, &r.colors[0], &r.colors[1], &r.colors[2], &r.colors[3], &r.HideBrand, &r.SupportEmail,
		&r.digest, &r.kind, &r.width, &r.height, &r.at, &r.Edit,
	}
}

// asSettings converts the row. Invalid colours count as not set.
func (r *row) asSettings() *Settings {
	s := r.Settings
	s.UpdatedAt = r.at
	if r.digest != nil && r.kind != nil && r.width != nil && r.height != nil {
		s.Logo = &LogoInfo{*r.digest, *r.kind, *r.width, *r.height}
	}

	var p Palette
	whole := true
	for i, c := range []*Color{&p.Primary, &p.Accent, &p.Background, &p.Text} {
		ok := false
		if r.colors[i] != nil {
			*c, ok = ParseColor(*r.colors[i])
		}
		whole = whole && ok
	}

	if whole {
		s.Colors = &p
	}

	return &s
}

// Read returns the settings of tx's org, or zero settings if none are stored.
func Read(ctx context.Context, tx *postgres.Tx) (*Settings, error) {
	var r row
	if err := tx.QueryRow(ctx, `SELECT `+columns+` FROM org o LEFT JOIN brand b ON b.org_id = o.id WHERE o.id = $1`,
		[]any{tx.Org()}, r.scanTargets()...); err != nil {
		return nil, fmt.Errorf("read brand: %w", err)
	}
	return r.asSettings(), nil
}

// Patch is a merge patch of settings. Each colour is merged separately; null restores the platform's.
type Patch struct {
	Name         wire.Field[string]
	Colors       wire.Field[ColorPatch]
	HideBrand    wire.Field[bool]
	SupportEmail wire.Field[string] // the caller has validated the address
}

// ColorPatch is a merge patch of the colours.
type ColorPatch struct {
	Primary, Accent, Background, Text wire.Field[string]
}

// Change is one change of the settings: the state before and after, and the fields that differ. Fields is empty if
// nothing changed.
type Change struct {
	Was, Is *Settings
	Fields  []string
}

// Update applies p to the settings of tx's org and announces brand.updated; base is as for Event. Update calls check
// with the current, locked settings. A patch that changes nothing writes nothing. The caller writes the audit log.
func Update(ctx context.Context, tx *postgres.Tx, base string, p Patch, check func(*Settings) error) (*Change, error) {
	return changeSettings(ctx, tx, base, check, p.applyTo)
}

// changeSettings runs every change: lock, check, alter, and write if something differs.
func changeSettings(ctx context.Context, tx *postgres.Tx, base string, check func(*Settings) error,
	alter func(*Settings) error,
) (*Change, error) {
	// Lock the org's row, because an org without settings has no row here. The lock is a separate statement: a
	// statement that waits for a lock would read the settings as of before the wait.
	tx.Queue(`SELECT 1 FROM org WHERE id = $1 FOR NO KEY UPDATE`, tx.Org())
	was, err := Read(ctx, tx)
	if err != nil {
		return nil, err
	}

	if err := check(was); err != nil {
		return nil, err
	}

	is := *was
	if err := alter(&is); err != nil {
		return nil, err
	}

	c := &Change{Was: was, Is: &is}
	before := was.Event(base)
	after := is.Event(base)
	previous := map[string]any{}
	note := func(differs bool, name string, value any) {
		if differs {
			previous[name] = value
			c.Fields = append(c.Fields, name)
		}
	}
	note(!equalValues(before.BrandName, after.BrandName), "brand_name", before.BrandName)
	note(before.Colors != after.Colors, "colors", before.Colors)
	note(before.HideBrand != after.HideBrand, "hide_brand", before.HideBrand)
	note(!equalValues(before.SupportEmail, after.SupportEmail), "support_email",
		before.SupportEmail)
	note(!equalValues(before.Logo, after.Logo), "logo", before.Logo)
	if len(c.Fields) == 0 {
		c.Is = was
		return c, nil
	}

	if err := is.writeSettings(ctx, tx); err != nil {
		return nil, err
	}

	return c, events.Announce(ctx, tx, events.BrandUpdated{Brand: after, Previous: previous})
}

func equalValues[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// writeSettings writes all settings except the logo, which has separate statements, and increments the edit.
func (s *Settings) writeSettings(ctx context.Context, tx *postgres.Tx) error {
	var colors [4]*string
	if s.Colors != nil {
		for i, c := range []Color{s.Colors.Primary, s.Colors.Accent, s.Colors.Background, s.Colors.Text} {
			text := c.String()
			colors[i] = &text
		}
	}

	err := tx.QueryRow(ctx, `
		INSERT INTO brand AS b (org_id, brand_name, color_primary, color_accent, color_background, color_text,
		hide_brand, support_email)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (org_id) DO UPDATE SET brand_name = $2, color_primary = $3, color_accent = $4,
		color_background = $5, color_text = $6,
			hide_brand = $7, support_email = $8, updated_at = clock_timestamp(), edit = b.edit + 1
		RETURNING updated_at, edit`,
		[]any{tx.Org(), s.Name, colors[0], colors[1], colors[2], colors[3], s.HideBrand, s.SupportEmail},
		&s.UpdatedAt, &s.Edit)
	if err != nil {
		return fmt.Errorf("write brand: %w", err)
	}

	return nil
}

// SetLogo sets the logo of tx's org, or removes it if l is nil. It otherwise works like Update.
func SetLogo(ctx context.Context, tx *postgres.Tx, base string, l *Logo, check func(*Settings) error) (*Change, error) {
	c, err := changeSettings(ctx, tx, base, check, func(s *Settings) error {
		s.Logo = nil
		if l != nil {
			s.Logo = &l.LogoInfo
		}
		return nil
	})
	if err != nil || len(c.Fields) == 0 {
		return c, err
	}

	if l == nil {
		tx.Queue(`UPDATE brand SET logo = NULL, logo_type = NULL, logo_digest = NULL, logo_width = NULL,
			logo_height = NULL WHERE org_id = $1`, tx.Org())
	} else {
		tx.Queue(`UPDATE brand SET logo = $2, logo_type = $3, logo_digest = $4, logo_width = $5, logo_height = $6
			WHERE org_id = $1`,
			tx.Org(), l.Bytes, l.Type, l.Digest, l.Width, l.Height)
	}

	return c, nil
}

// LogoOf returns the logo of tx's org, or fault.NotFound.
func LogoOf(ctx context.Context, tx *postgres.Tx) (*Logo, error) {
	return readLogo(ctx, tx,
		`SELECT logo, logo_type, logo_digest, logo_width, logo_height FROM brand WHERE org_id = $1
			AND logo IS NOT NULL`, tx.Org())
}

// LogoBy returns the logo with that digest, of any org; tx must have the System role. It returns fault.NotFound if no
// org has the logo any more.
func LogoBy(ctx context.Context, tx *postgres.Tx, digest string) (*Logo, error) {
	return readLogo(ctx, tx,
		`SELECT logo, logo_type, logo_digest, logo_width, logo_height FROM brand WHERE logo_digest = $1 LIMIT 1`,
		digest)
}

func readLogo(ctx context.Context, tx *postgres.Tx, sql string, by any) (*Logo, error) {
	var l Logo
	err := tx.QueryRow(ctx, sql, []any{by}, &l.Bytes, &l.Type, &l.Digest, &l.Width, &l.Height)
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, "There is no such logo.")
	}

	if err != nil {
		return nil, fmt.Errorf("read logo: %w", err)
	}

	return &l, nil
}

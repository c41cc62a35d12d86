package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const (
	brandTag  = "White label"
	brandPath = "/white-label"
)

func (a *App) mountBrand() {
	route(a, op{Method: http.MethodGet, Path: brandPath, Need: viewer, Tag: brandTag, Title: "Read the brand's settings"}, a.readBrand)
	route(a, op{
		Method: http.MethodPatch, Path: brandPath, Need: admin, Tag: brandTag, Title: "Change the brand's settings", Writes: []string{"brand.updated"},
	}, a.patchBrand)
}

// brandView is the settings as they are stored, and what the plan lets be shown of them.
type brandView struct {
	BrandName    *string                 `json:"brand_name" doc:"null: the platform's"`
	Colors       events.BrandColors      `json:"colors"`
	HideBrand    bool                    `json:"hide_brand" doc:"The wish not to name the platform"`
	SupportEmail *string                 `json:"support_email" doc:"Where people find help"`
	Logo         maybe[events.BrandLogo] `json:"logo" doc:"null: none"`
	Effective    brandRights             `json:"effective" doc:"What the plan lets be shown now; settings outlast a plan that does not"`
	UpdatedAt    *wire.Time              `json:"updated_at" format:"date-time" doc:"null: never set"`
}

type brandRights struct {
	WhiteLabel bool `json:"white_label" doc:"Name, colours, logo and support_email are shown"`
	HideBrand  bool `json:"hide_brand" doc:"The platform is not named: it is wished, and the plan allows it"`
}

type brandOut struct {
	Tagged
	Body brandView
}

// brandPatch holds, beside what may change, what a caller may send back as it was read.
type brandPatch struct {
	BrandName    optional[string]         `json:"brand_name" required:"false" doc:"At most 80 characters; null: the platform's"`
	Colors       optional[colorPatch]     `json:"colors" required:"false" doc:"Merged one by one. Text needs 4.5:1 against the background, primary and accent 3:1 (WCAG 2.2 AA); a refusal names the nearest shades that pass. null: the platform's"`
	HideBrand    optional[bool]           `json:"hide_brand" required:"false" doc:"Not to name the platform; needs the feature hide_brand"`
	SupportEmail optional[string]         `json:"support_email" required:"false"`
	Logo         optional[map[string]any] `json:"logo" required:"false" doc:"Cannot be changed here: PUT /white-label/logo"`
	Effective    optional[map[string]any] `json:"effective" required:"false" doc:"Cannot be changed"`
	UpdatedAt    optional[string]         `json:"updated_at" required:"false" doc:"Cannot be changed"`
}

type colorPatch struct {
	Primary    optional[string] `json:"primary" required:"false" doc:"#RRGGBB: what buttons are filled with"`
	Accent     optional[string] `json:"accent" required:"false" doc:"#RRGGBB: what sets links and marks apart"`
	Background optional[string] `json:"background" required:"false" doc:"#RRGGBB"`
	Text       optional[string] `json:"text" required:"false" doc:"#RRGGBB"`
}

type brandPatchIn struct {
	IfMatch
	Body brandPatch
}

// brandAnswer shows settings as org's plan has them.
func (a *App) brandAnswer(s *branding.Settings, now *plans.Standing) *brandOut {
	may, e := branding.RightsOf(now), s.Event(a.PublicURL)
	return &brandOut{Tagged: etag(s.Edit, now.Version), Body: brandView{
		BrandName: e.BrandName, Colors: e.Colors, HideBrand: e.HideBrand, SupportEmail: e.SupportEmail, Logo: maybe[events.BrandLogo]{e.Logo}, UpdatedAt: s.UpdatedAt,
		Effective: brandRights{WhiteLabel: may.WhiteLabel, HideBrand: may.HideBrand && s.HideBrand},
	}}
}

// readBrand needs no feature: what was set under a larger plan can still be seen.
func (a *App) readBrand(ctx context.Context, _ *struct{}) (*brandOut, error) {
	now, err := a.Plans.Of(ctx, who(ctx).Org)
	if err != nil {
		return nil, err
	}
	return read(ctx, a, func(tx *postgres.Tx) (*brandOut, error) {
		s, err := branding.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		return a.brandAnswer(s, now), nil
	})
}

func (a *App) patchBrand(ctx context.Context, in *brandPatchIn) (*brandOut, error) {
	b, home := &in.Body, who(ctx).Org
	if err := a.mayBrand(ctx, b); err != nil {
		return nil, err
	}
	if m := b.SupportEmail; m.Set && !m.Null {
		if err := auth.CheckEmail("support_email", m.Value); err != nil {
			return nil, err
		}
	}
	now, err := a.Plans.Of(ctx, home)
	if err != nil {
		return nil, err
	}
	p := branding.Patch{Name: b.BrandName.Field, HideBrand: b.HideBrand.Field, SupportEmail: b.SupportEmail.Field}
	p.Colors.Set, p.Colors.Null = b.Colors.Set, b.Colors.Null
	c := &b.Colors.Value
	p.Colors.Value = branding.ColorPatch{Primary: c.Primary.Field, Accent: c.Accent.Field, Background: c.Background.Field, Text: c.Text.Field}
	defer a.Brands.Forget(home)
	return write(ctx, a, func(tx *postgres.Tx) (*brandOut, error) {
		done, err := branding.Update(ctx, tx, a.PublicURL, p, func(s *branding.Settings) error {
			if err := in.check(s.Edit); err != nil {
				return err
			}
			return b.keeps(a.brandAnswer(s, now).Body)
		})
		if err != nil {
			return nil, err
		}
		auditBrand(ctx, tx, done)
		return a.brandAnswer(done.Is, now), nil
	})
}

// mayBrand asks for the features that the fields of a patch need. The wish to name the platform again needs none.
func (a *App) mayBrand(ctx context.Context, b *brandPatch) error {
	home := who(ctx).Org
	if b.BrandName.Set || b.Colors.Set || b.SupportEmail.Set {
		if err := a.Plans.Need(ctx, home, "white_label"); err != nil {
			return err
		}
	}
	if b.HideBrand.Value {
		return a.Plans.Need(ctx, home, "hide_brand")
	}
	return nil
}

// keeps refuses members that nobody may change, unless they say what is so anyway.
func (b *brandPatch) keeps(now brandView) error {
	if err := kept(now, map[string]optional[string]{"updated_at": b.UpdatedAt}); err != nil {
		return err
	}
	for name, field := range map[string]struct {
		sent optional[map[string]any]
		is   any
	}{"logo": {b.Logo, now.Logo}, "effective": {b.Effective, now.Effective}} {
		if field.sent.Set && !alike(field.sent.Value, field.is) {
			return fault.Invalid(name, "read_only", "This field cannot be changed here.")
		}
	}
	return nil
}

// alike compares a decoded object, nil for null, with a value.
func alike(sent map[string]any, is any) bool {
	b, err := json.Marshal(is)
	if err != nil {
		return false
	}
	var now map[string]any
	return json.Unmarshal(b, &now) == nil && reflect.DeepEqual(sent, now)
}

// auditBrand leaves an entry in the org's log, where something changed.
func auditBrand(ctx context.Context, tx *postgres.Tx, c *branding.Change) {
	if len(c.Fields) > 0 {
		org.Audit(ctx, tx, org.Entry{Action: "brand.updated", Target: "brand", ID: tx.Org().String(), Detail: map[string]any{"changed": c.Fields}})
	}
}

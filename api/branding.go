package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/funnelwork/funnelwork/api/httpx"
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
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "white_label.get",
			Method: http.MethodGet,
			Path:   brandPath,
			Need:   httpx.Viewer,
			Tag:    brandTag,
			Title:  "Get the brand settings",
		},
		a.readBrand,
	)
	httpx.Route(a.Server, httpx.Op{
		ID:     "white_label.update",
		Method: http.MethodPatch, Path: brandPath, Need: httpx.Admin, Tag: brandTag, Title: "Change the brand settings",
		Writes: []string{"brand.updated"}, May: []int{http.StatusPaymentRequired},
	}, a.patchBrand)
}

// brandSettings holds the stored settings and which of them the plan allows to be shown.
type brandSettings struct {
	BrandName    *string                          `json:"brand_name" doc:"Name shown to users; null: the platform's"`
	Colors       events.BrandColors               `json:"colors"`
	HideBrand    bool                             `json:"hide_brand" doc:"Whether to hide the platform's name"`
	SupportEmail *string                          `json:"support_email"`
	Logo         httpx.Nullable[events.BrandLogo] `json:"logo" doc:"The logo; null: none"`
	Effective    brandRights                      `json:"effective" doc:"What the plan shows of the settings"`
	UpdatedAt    *wire.Time                       `json:"updated_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (brandSettings) Descriptions() map[string]string {
	return map[string]string{
		"colors":        "The stored colours, or the platform's where none is set",
		"support_email": "Address shown to users for support; null: none",
		"updated_at":    "When the settings were last changed; null: never",
	}
}

type brandRights struct {
	WhiteLabel bool `json:"white_label" doc:"Name, colours, logo and support_email are shown"`
	HideBrand  bool `json:"hide_brand" doc:"The platform is not named: hide_brand is set and the plan allows it"`
}

type brandOut struct {
	httpx.Tagged
	Body brandSettings
}

// updateBrandRequest has the members that may change, and the read-only members which a caller may send back unchanged.
type updateBrandRequest struct {
	BrandName    httpx.Optional[string]         `json:"brand_name" required:"false"`
	Colors       httpx.Optional[colorPatch]     `json:"colors" required:"false"`
	HideBrand    httpx.Optional[bool]           `json:"hide_brand" required:"false"`
	SupportEmail httpx.Optional[string]         `json:"support_email" required:"false"`
	Logo         httpx.Optional[map[string]any] `json:"logo" required:"false"`
	Effective    httpx.Optional[map[string]any] `json:"effective" required:"false"`
	UpdatedAt    httpx.Optional[string]         `json:"updated_at" required:"false"`
}

// Descriptions implements wire.Describer.
func (updateBrandRequest) Descriptions() map[string]string {
	return map[string]string{
		"brand_name": "At most 80 characters; null: the platform's",
		"colors": "Merged per colour. Contrast with the background: text 4.5:1, primary and accent 3:1 (WCAG 2.2 " +
			"AA); an error names the nearest valid shades. null: the platform's",
		"hide_brand":    "Hide the platform's name; needs the feature hide_brand",
		"support_email": "Address shown to users for support; null removes it",
		"logo":          "Read-only here: use PUT /white-label/logo",
		"effective":     "Read-only: only the current value is accepted",
		"updated_at":    "Read-only: only the current value is accepted",
	}
}

type colorPatch struct {
	Primary    httpx.Optional[string] `json:"primary" required:"false" doc:"#RRGGBB: fill of buttons"`
	Accent     httpx.Optional[string] `json:"accent" required:"false" doc:"#RRGGBB: links and highlights"`
	Background httpx.Optional[string] `json:"background" required:"false" doc:"#RRGGBB: background of pages"`
	Text       httpx.Optional[string] `json:"text" required:"false" doc:"#RRGGBB: text on the background"`
}

type brandPatchIn struct {
	httpx.IfMatch
	Body updateBrandRequest
}

// brandAnswer returns the response for the settings under the org's entitlements.
func (a *App) brandAnswer(s *branding.Settings, now *plans.Entitlements) *brandOut {
	may := branding.RightsOf(now)
	e := s.Event(a.PublicURL)
	return &brandOut{Tagged: httpx.ETag(s.Edit, now.Version), Body: brandSettings{
		BrandName: e.BrandName, Colors: e.Colors, HideBrand: e.HideBrand, SupportEmail: e.SupportEmail,
		Logo: httpx.Nullable[events.BrandLogo]{Value: e.Logo}, UpdatedAt: s.UpdatedAt,
		Effective: brandRights{WhiteLabel: may.WhiteLabel, HideBrand: may.HideBrand && s.HideBrand},
	}}
}

// readBrand requires no feature, so that settings made under a larger plan stay readable.
func (a *App) readBrand(ctx context.Context, _ *struct{}) (*brandOut, error) {
	now, err := a.Plans.Of(ctx, httpx.Who(ctx).Org)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*brandOut, error) {
		s, err := branding.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		return a.brandAnswer(s, now), nil
	})
}

func (a *App) patchBrand(ctx context.Context, in *brandPatchIn) (*brandOut, error) {
	b := &in.Body
	home := httpx.Who(ctx).Org
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
	p.Colors.Set = b.Colors.Set
	p.Colors.Null = b.Colors.Null
	c := &b.Colors.Value
	p.Colors.Value = branding.ColorPatch{
		Primary: c.Primary.Field, Accent: c.Accent.Field,
		Background: c.Background.Field, Text: c.Text.Field,
	}
	defer a.Brands.Forget(home)

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*brandOut, error) {
		done, err := branding.Update(ctx, tx, a.PublicURL, p, func(s *branding.Settings) error {
			if err := in.Check(s.Edit); err != nil {
				return err
			}
			return b.checkReadOnly(a.brandAnswer(s, now).Body)
		})
		if err != nil {
			return nil, err
		}

		auditBrand(ctx, tx, done)
		return a.brandAnswer(done.Is, now), nil
	})
}

// mayBrand checks that the org has the features which the patch needs. Showing the platform's name again needs none.
func (a *App) mayBrand(ctx context.Context, b *updateBrandRequest) error {
	home := httpx.Who(ctx).Org
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

// checkReadOnly returns an error for read-only members, unless they equal the current values.
func (b *updateBrandRequest) checkReadOnly(now brandSettings) error {
	if err := httpx.CheckUnchanged(now, map[string]httpx.Optional[string]{"updated_at": b.UpdatedAt}); err != nil {
		return err
	}

	for name, field := range map[string]struct {
		sent httpx.Optional[map[string]any]
		is   any
	}{"logo": {b.Logo, now.Logo}, "effective": {b.Effective, now.Effective}} {
		if field.sent.Set && !equalsJSON(field.sent.Value, field.is) {
			return fault.Invalid(name, "read_only", "This field cannot be changed here.")
		}
	}

	return nil
}

// equalsJSON reports whether a decoded object, nil for null, equals a value.
func equalsJSON(sent map[string]any, is any) bool {
	b, err := json.Marshal(is)
	if err != nil {
		return false
	}
	var now map[string]any
	return json.Unmarshal(b, &now) == nil && reflect.DeepEqual(sent, now)
}

// auditBrand writes an audit log entry if the settings changed.
func auditBrand(ctx context.Context, tx *postgres.Tx, c *branding.Change) {
	if len(c.Fields) > 0 {
		org.Audit(ctx, tx,
			org.Entry{
				Action: "brand.updated", Target: "brand", ID: tx.Org().String(),
				Detail: map[string]any{"changed": c.Fields},
			})
	}
}

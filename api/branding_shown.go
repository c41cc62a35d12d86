package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
)

func (a *App) mountShownBrand() {
	httpx.Route(a.Server,
		httpx.Op{
			Method: http.MethodGet, Path: brandPath + "/brand", Need: httpx.Public, Tag: brandTag,
			Title: "Get the brand of a host",
		}, a.shownBrand)
}

type shownBrandIn struct {
	Host string `query:"host" required:"true" minLength:"1" maxLength:"260" doc:"Custom domain, or the service's host"`
}

type shownBrandOut struct {
	ETag  string `header:"ETag"`
	Cache string `header:"Cache-Control" hidden:"true"`
	Body  shownBody
}

// shownBody is the brand shown on the pages of a host.
type shownBody struct {
	BrandName    string      `json:"brand_name" doc:"Empty if the platform is hidden and no other name is set"`
	Colors       shownColors `json:"colors"`
	LogoURL      *string     `json:"logo_url" doc:"null: none"`
	SupportEmail *string     `json:"support_email"`
	HideBrand    bool        `json:"hide_brand" doc:"Whether the platform must not be named"`
	PoweredBy    *string     `json:"powered_by" doc:"The platform's name, if shown beside brand_name"`
}

type shownColors struct {
	Primary    string `json:"primary" doc:"#rrggbb"`
	OnPrimary  string `json:"on_primary" doc:"Text colour on primary: black or white"`
	Accent     string `json:"accent"`
	OnAccent   string `json:"on_accent" doc:"Text colour on accent: black or white"`
	Background string `json:"background"`
	Text       string `json:"text"`
}

// shownBrand returns the same response for every unknown host.
func (a *App) shownBrand(ctx context.Context, in *shownBrandIn) (*shownBrandOut, error) {
	host := httpx.BareHost(in.Host)
	home, known := a.HomeOf(host)
	if !known {
		return nil, fault.New(fault.NotFound, "There is nothing at this host.")
	}
	shown, err := a.Brands.Of(ctx, home)
	if err != nil {
		return nil, err
	}
	base := a.PublicURL
	if !home.IsZero() {
		scheme, _, _ := strings.Cut(a.PublicURL, "://")
		base = scheme + "://" + host
	}
	out := &shownBrandOut{Cache: "no-cache", Body: showBrand(&shown, base)}
	b, err := json.Marshal(out.Body)
	if err != nil {
		return nil, fmt.Errorf("encode brand: %w", err)
	}
	sum := sha256.Sum256(b)
	out.ETag = `"` + hex.EncodeToString(sum[:12]) + `"`
	return out, nil
}

func showBrand(s *branding.Shown, base string) shownBody {
	c := s.Colors
	out := shownBody{
		BrandName: s.Name, HideBrand: s.Hidden, SupportEmail: orNil(s.SupportEmail), PoweredBy: orNil(s.PoweredBy()),
		Colors: shownColors{
			Primary: c.Primary.String(), OnPrimary: c.Primary.On().String(), Accent: c.Accent.String(),
			OnAccent:   c.Accent.On().String(),
			Background: c.Background.String(), Text: c.Text.String(),
		},
	}
	if s.Logo.Digest != "" {
		out.LogoURL = orNil(base + s.Logo.Path())
	}
	return out
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

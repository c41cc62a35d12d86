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
			ID:     "white_label.get_public_brand",
			Method: http.MethodGet, Path: brandPath + "/brand", Need: httpx.Public, Tag: brandTag,
			Title: "Get the brand of a host",
		}, a.shownBrand)
}

type shownBrandIn struct {
	Host string `query:"host" required:"true" minLength:"1" maxLength:"260" example:"localhost"`
}

// Descriptions implements wire.Describer.
func (shownBrandIn) Descriptions() map[string]string {
	return map[string]string{"host": "Custom domain, or the service's host"}
}

type shownBrandOut struct {
	ETag  string `header:"ETag" doc:"Digest of the brand as shown; send it as If-None-Match"`
	Cache string `header:"Cache-Control" hidden:"true"`
	Body  publicBrand
}

// publicBrand is the brand shown on the pages of a host.
type publicBrand struct {
	BrandName    string            `json:"brand_name" doc:"Empty if the platform is hidden and no other name is set"`
	Colors       publicBrandColors `json:"colors" doc:"Colours of the pages"`
	LogoURL      *string           `json:"logo_url" doc:"null: none"`
	SupportEmail *string           `json:"support_email" doc:"Address for support; null: none"`
	HideBrand    bool              `json:"hide_brand" doc:"Whether the platform must not be named"`
	PoweredBy    *string           `json:"powered_by" doc:"The platform's name, if shown beside brand_name"`
}

type publicBrandColors struct {
	Primary    string `json:"primary" doc:"Fill of buttons, as #rrggbb"`
	OnPrimary  string `json:"on_primary" doc:"Text colour on primary: black or white"`
	Accent     string `json:"accent" doc:"Links and highlights, as #rrggbb"`
	OnAccent   string `json:"on_accent" doc:"Text colour on accent: black or white"`
	Background string `json:"background" doc:"Background of pages, as #rrggbb"`
	Text       string `json:"text" doc:"Text on the background, as #rrggbb"`
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

func showBrand(s *branding.Shown, base string) publicBrand {
	c := s.Colors
	out := publicBrand{
		BrandName: s.Name, HideBrand: s.Hidden, SupportEmail: orNil(s.SupportEmail), PoweredBy: orNil(s.PoweredBy()),
		Colors: publicBrandColors{
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

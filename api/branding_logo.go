package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const logoPath = brandPath + "/logo"

// logoPolicy disables scripts and loads in a logo that is opened as a document, since an SVG is one.
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// pressing is the number of logos decoded concurrently. Each may take some tens of megabytes.
const pressing = 2

func (a *App) mountLogo() {
	pictures := []string{"image/png", "image/jpeg", "image/svg+xml"}
	a.presses = make(chan struct{}, pressing)
	httpx.Route(a.Server, httpx.Op{
		ID:     "white_label.set_logo",
		Method: http.MethodPut, Path: logoPath, Need: httpx.Admin, Tag: brandTag, Title: "Set the logo",
		Feature: "white_label", MaxBody: branding.LogoBytes,
		Takes: []string{"image/png", "image/jpeg", "image/webp", "image/svg+xml"}, Writes: []string{"brand.updated"},
		May: []int{http.StatusUnsupportedMediaType},
	}, a.putLogo)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "white_label.get_logo",
			Method: http.MethodGet, Path: logoPath, Need: httpx.Viewer, Tag: brandTag, Title: "Get the logo",
			Gives: pictures,
		}, a.getLogo)
	httpx.Route(a.Server, httpx.Op{
		ID:     "white_label.remove_logo",
		Method: http.MethodDelete, Path: logoPath, Need: httpx.Admin, Tag: brandTag, Title: "Remove the logo",
		Status: http.StatusNoContent, Writes: []string{"brand.updated"},
	}, a.dropLogo)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "white_label.get_public_logo",
			Method: http.MethodGet, Path: branding.LogoPath + "{digest}", Need: httpx.Public, Tag: brandTag,
			Title: "Get a logo by its public address", Gives: pictures,
		}, a.publicLogo)
}

type putLogoIn struct {
	httpx.IfMatch
	Kind     string `header:"Content-Type" hidden:"true"`
	Encoding string `header:"Content-Encoding" hidden:"true"`
	RawBody  []byte
}

// putLogo stores a logo. It never stores the bytes as they were sent; see branding.NewLogo.
func (a *App) putLogo(ctx context.Context, in *putLogoIn) (*brandOut, error) {
	l, err := a.decodeLogo(ctx, in)
	if err != nil {
		return nil, err
	}
	return a.setLogo(ctx, l, in.IfMatch)
}

// decodeLogo waits for a decoding slot and creates the logo.
func (a *App) decodeLogo(ctx context.Context, in *putLogoIn) (*branding.Logo, error) {
	if in.Encoding != "" && !strings.EqualFold(in.Encoding, "identity") {
		return nil, fault.New(fault.UnsupportedMedia, "Send the picture without Content-Encoding.")
	}
	select {
	case a.presses <- struct{}{}:
		defer func() { <-a.presses }()
		return branding.NewLogo(in.Kind, in.RawBody)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *App) setLogo(ctx context.Context, l *branding.Logo, m httpx.IfMatch) (*brandOut, error) {
	home := httpx.Who(ctx).Org
	now, err := a.Plans.Of(ctx, home)
	if err != nil {
		return nil, err
	}

	defer a.Brands.Forget(home)

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*brandOut, error) {
		done, err := branding.SetLogo(ctx, tx, a.PublicURL, l, func(s *branding.Settings) error {
			return m.Check(s.Edit)
		})
		if err != nil {
			return nil, err
		}
		auditBrand(ctx, tx, done)
		return a.brandAnswer(done.Is, now), nil
	})
}

// dropLogo requires no feature, so that a logo can always be removed.
func (a *App) dropLogo(ctx context.Context, in *httpx.IfMatch) (*struct{}, error) {
	_, err := a.setLogo(ctx, nil, *in)
	return &struct{}{}, err
}

// logoOut is an image response.
type logoOut struct {
	ETag   string `header:"ETag" doc:"The SHA-256 of the bytes"`
	Kind   string `header:"Content-Type" hidden:"true"`
	Policy string `header:"Content-Security-Policy" hidden:"true"`
	Cache  string `header:"Cache-Control" hidden:"true"`
	Body   []byte
}

func showLogo(l *branding.Logo, cache string) *logoOut {
	return &logoOut{ETag: `"` + l.Digest + `"`, Kind: l.Type, Policy: logoPolicy, Cache: cache, Body: l.Bytes}
}

func (a *App) getLogo(ctx context.Context, _ *struct{}) (*logoOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*logoOut, error) {
		l, err := branding.LogoOf(ctx, tx)
		if err != nil {
			return nil, err
		}
		return showLogo(l, "private, no-cache"), nil
	})
}

type publicLogoIn struct {
	Digest string `path:"digest" maxLength:"64" minLength:"64" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the logo"`
}

// publicLogo serves the logos of pages and mails. An address always identifies the same bytes, so clients may cache
// them without revalidation. A replaced logo is no longer served.
func (a *App) publicLogo(ctx context.Context, in *publicLogoIn) (out *logoOut, err error) {
	err = a.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		l, err := branding.LogoBy(ctx, tx, in.Digest)
		if err == nil {
			out = showLogo(l, "public, max-age=31536000, immutable")
		}
		return err
	})
	return out, err
}

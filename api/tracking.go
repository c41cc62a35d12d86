package api

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/pages"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/tracking"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
)

// mountTracking mounts the addresses of the pixels and links in tracked emails.
func (a *App) mountTracking() {
	const tag = "Tracking"
	httpx.Route(a.Server, httpx.Op{
		ID:     "email_opens.record",
		Method: http.MethodGet, Path: links.OpenPath + "{token}", Need: httpx.Public, Signed: true, AnyQuery: true,
		Tag: tag, Title: "Load the pixel of an email", Gives: []string{"image/gif"},
	}, a.openEmail)
	httpx.Route(a.Server, httpx.Op{
		ID:     "email_links.follow",
		Method: http.MethodGet, Path: links.ClickPath + "{token}", Need: httpx.Public, Signed: true, AnyQuery: true,
		Tag: tag, Title: "Follow a link of an email", Status: http.StatusFound,
		May: []int{http.StatusNotFound, http.StatusServiceUnavailable},
	}, a.followLink)
}

// visitIn is a request for an address in an email.
type visitIn struct {
	Token  string `path:"token" maxLength:"200" doc:"Token of the pixel or link"`
	Agent  string `header:"User-Agent" hidden:"true"`
	Accept string `header:"Accept" hidden:"true"`
	isHead bool
}

// Resolve implements huma.Resolver.
func (in *visitIn) Resolve(ctx huma.Context) []error {
	in.isHead = ctx.Method() == http.MethodHead
	return nil
}

func (in *visitIn) toVisit(ctx context.Context) *tracking.Visit {
	return &tracking.Visit{Head: in.isHead, Agent: in.Agent, IP: httpx.ClientIP(ctx)}
}

// dot is a transparent GIF of one pixel.
const dot = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

type pixelOut struct {
	Kind  string `header:"Content-Type" hidden:"true"`
	Cache string `header:"Cache-Control" hidden:"true"`
	Body  []byte
}

// checkVisit reports a token that was not issued here. It does not need the database for an org with recent visits.
func (a *App) checkVisit(ctx context.Context, in *visitIn) {
	if issued, err := a.visits.Issued(ctx, in.Token); err == nil && !issued {
		httpx.Unverified(ctx)
	}
}

// openEmail answers with the pixel for any token, and even if the open cannot be stored: a mail must not
// show a broken picture.
func (a *App) openEmail(ctx context.Context, in *visitIn) (*pixelOut, error) {
	a.checkVisit(ctx, in)
	if err := a.visits.Open(ctx, in.Token, in.toVisit(ctx)); err != nil {
		a.Log.WarnContext(ctx, "an open could not be stored", "error", err)
	}
	gif, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		return nil, err
	}
	return &pixelOut{Kind: "image/gif", Cache: "no-store", Body: gif}, nil
}

type linkOut struct {
	Status   int
	Location string `header:"Location" doc:"Target of the link"`
	Kind     string `header:"Content-Type" hidden:"true"`
	Policy   string `header:"Content-Security-Policy" hidden:"true"`
	Cache    string `header:"Cache-Control" hidden:"true"`
	Body     []byte
}

var noLink = pages.Message("Link not found", "This link leads nowhere. It may be incomplete.")

// followLink redirects to the target of a link, which is looked up by the link's number. If there is none, browsers get
// a page and programs a problem.
func (a *App) followLink(ctx context.Context, in *visitIn) (*linkOut, error) {
	a.checkVisit(ctx, in)
	out := &linkOut{Status: http.StatusFound, Cache: "no-store"}
	var err error
	if out.Location, err = a.visits.Click(ctx, in.Token, in.toVisit(ctx)); err != nil {
		return nil, err
	}
	if out.Location != "" {
		out.Location = links.ASCII(out.Location)
		return out, nil
	}
	if !strings.Contains(in.Accept, "text/html") {
		return nil, fault.New(fault.NotFound, "This link leads nowhere.")
	}

	out.Status = http.StatusNotFound
	out.Kind = "text/html; charset=utf-8"
	shown := a.pages.BrandOf(ctx, id.ID{})
	out.Body, out.Policy, err = shown.Render(noLink)

	return out, err
}

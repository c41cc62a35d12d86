package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/pages"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/jobs/accountnotice"
)

// noticeBytes exceeds the size of any signed request.
const noticeBytes = 16 << 10

// noticeIn is a signed request in the form in which Meta sends it.
type noticeIn struct {
	RawBody []byte `contentType:"application/x-www-form-urlencoded"`
}

type erasureReceiptOut struct {
	Body struct {
		URL  string `json:"url" doc:"Address of the erasure's progress"`
		Code string `json:"confirmation_code" doc:"Code that identifies the erasure, part of url"`
	}
}

// mountOAuthNotices mounts the endpoints that Meta calls when a person removes one of its applications or requests the
// erasure of their data. A notice is verified, stored and acknowledged; a job processes it.
func (a *App) mountOAuthNotices() {
	for _, meta := range []struct{ platform, name string }{{"facebook", "Facebook"}, {"instagram", "Instagram"}} {
		platform := meta.platform
		name := meta.name
		path := "/oauth/" + platform
		writes := []string{accountnotice.Kind.Name()}
		signed := httpx.Op{
			ID:     platform + ".receive_deauthorization",
			Method: http.MethodPost, Path: path + "/deauthorize", Need: httpx.Public, Signed: true, Tag: accountTag,
			MaxBody: noticeBytes, Writes: writes,
			Title: "Receive a notice from " + name + " that a person removed the application",
		}
		httpx.Route(a.Server, signed, func(ctx context.Context, in *noticeIn) (*noticeReceiptOut, error) {
			if _, err := a.acceptNotice(ctx, platform, social.Deauthorize, in); err != nil {
				return nil, err
			}
			out := &noticeReceiptOut{}
			out.Body.Received = true
			return out, nil
		})
		signed.ID = platform + ".receive_erasure_request"
		signed.Path = path + "/data-deletion"
		signed.Title = "Take a person's wish from " + name + " that their data are erased"
		httpx.Route(a.Server, signed, func(ctx context.Context, in *noticeIn) (*erasureReceiptOut, error) {
			n, err := a.acceptNotice(ctx, platform, social.Erase, in)
			if err != nil {
				return nil, err
			}
			out := &erasureReceiptOut{}
			out.Body.URL = a.Social.ErasureURL(platform, n.Code)
			out.Body.Code = n.Code
			return out, nil
		})
		httpx.Route(a.Server, httpx.Op{
			ID:     platform + ".get_erasure",
			Method: http.MethodGet, Path: path + "/data-deletion/{code}", Need: httpx.Public, Signed: true,
			Tag:   accountTag,
			Title: "Show the progress of an erasure that " + name + " requested", Gives: []string{"text/html"},
		}, func(ctx context.Context, in *struct {
			Code string `path:"code" maxLength:"100" doc:"confirmation_code of the erasure"`
		},
		) (*pageOut, error) {
			return a.erasurePage(ctx, platform, in.Code)
		})
	}
}

// acceptNotice stores the content of a signed request and enqueues the job that processes it.
func (a *App) acceptNotice(ctx context.Context, platform, act string, in *noticeIn) (n *social.Notice, err error) {
	defer func() {
		if fault.Is(err, fault.InvalidSignature) {
			httpx.Unverified(ctx)
		}
	}()

	form, err := url.ParseQuery(string(in.RawBody))
	if err != nil || len(form["signed_request"]) != 1 {
		return nil, fault.New(fault.InvalidSignature, "Send a form with one signed_request.")
	}
	if n, err = a.Social.VerifyNotice(platform, act, form.Get("signed_request")); err != nil {
		return nil, platformFault(err)
	}

	err = a.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		n.Store(tx)
		return accountnotice.Kind.Add(ctx, tx, accountnotice.Args{Notice: n.ID})
	})

	return n, err
}

type pageOut struct {
	Kind   string `header:"Content-Type" hidden:"true"`
	Policy string `header:"Content-Security-Policy" hidden:"true"`
	Body   []byte
}

// erasurePage returns a page with the progress of an erasure, for the person who requested it.
func (a *App) erasurePage(ctx context.Context, platform, code string) (*pageOut, error) {
	n, err := a.Social.Erasure(ctx, a.System, platform, code)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			httpx.Unverified(ctx)
		}
		return nil, err
	}

	title, text := "Being deleted", "Your request has arrived. Your data are deleted within a day."
	if n.DoneAt != nil {
		title, text = "Deleted", "Your data were deleted on "+n.DoneAt.UTC().Format("2 January 2006")+"."
	}

	out := &pageOut{Kind: "text/html; charset=utf-8"}
	shown := a.pages.BrandOf(ctx, id.ID{})
	out.Body, out.Policy, err = shown.Render(pages.Message(title, text))

	return out, err
}

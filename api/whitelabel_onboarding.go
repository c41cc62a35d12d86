package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/pages"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// onboardingLife is how long a link's state is valid.
const onboardingLife = 24 * time.Hour

// onboarding is one visit to the payment processor's pages. Its state is sealed against forgery and names the principal
// who began it. Its secret, in a cookie, proves that the browser is the same one. The payment processor and the
// browser's history see only the state, which alone gives access to nothing.
type onboarding struct {
	Org, User, Key, Staff id.ID
	Until                 int64  // Unix seconds
	Digest                []byte // hash of the secret; nil if an API client began it
	secret                string
}

// sealedFor is the purpose for which states are sealed, so that no other sealed value is accepted as a state.
const sealedFor = "white-label/connect/onboarding"

func newOnboarding(w auth.Who, browser bool) *onboarding {
	t := &onboarding{Org: w.Org, User: w.User, Key: w.Key, Staff: w.Staff, Until: time.Now().Add(onboardingLife).Unix()}
	if browser {
		t.secret = rand.Text()
		sum := sha256.Sum256([]byte(t.secret))
		t.Digest = sum[:]
	}
	return t
}

// onboardingLink requests a link with return and refresh addresses that contain the state.
func (a *App) onboardingLink(ctx context.Context, t *onboarding) (*connect.Link, error) {
	plain, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}

	sealed, err := a.Box.Seal(plain, sealedFor)
	if err != nil {
		return nil, fmt.Errorf("seal state: %w", err)
	}

	back := func(to string) string {
		return a.PublicURL + connectPath + to + "?state=" + base64.RawURLEncoding.EncodeToString(sealed)
	}
	return a.resellers.Onboard(ctx, t.Org, back("/refresh"), back("/return"))
}

func (a *App) onboardingCookieName() string {
	if a.isHTTPS() {
		return "__Host-funnelwork-onboarding"
	}
	return "funnelwork-onboarding"
}

// onboardingCookie returns the Set-Cookie header of an onboarding that began in our browser, else "".
func (a *App) onboardingCookie(t *onboarding) string {
	if t.secret == "" {
		return ""
	}
	c := &http.Cookie{ //nolint:gosec // Secure where browsers use https; over http a browser would drop it
		Name: a.onboardingCookieName(), Value: t.secret, Path: "/", MaxAge: int(onboardingLife.Seconds()),
		Secure: a.isHTTPS(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	return c.String()
}

type onboardedIn struct {
	State   string `query:"state" maxLength:"2000" doc:"As in the link"`
	Cookies string `header:"Cookie" hidden:"true"`
}

type onboardedOut struct {
	Status   int
	Location string `header:"Location" doc:"The payment processor's page"`
	Kind     string `header:"Content-Type" hidden:"true"`
	Policy   string `header:"Content-Security-Policy" hidden:"true"`
	Body     []byte
}

// openOnboarding opens a state and checks that its principal still has the right to continue. ours reports whether the
// browser is the one that began.
func (a *App) openOnboarding(ctx context.Context, in *onboardedIn) (t *onboarding, ours bool, err error) {
	defer func() {
		if fault.Is(err, fault.InvalidState) {
			httpx.Unverified(ctx)
		}
	}()

	void := fault.New(fault.InvalidState, "This address has expired or is invalid. Go back and ask for a new link.")
	sealed, err := base64.RawURLEncoding.DecodeString(in.State)
	if err != nil || in.State == "" {
		return nil, false, void
	}

	plain, err := a.Box.Open(sealed, sealedFor)
	if err != nil {
		return nil, false, void.Because(err)
	}

	t = &onboarding{}
	if err := json.Unmarshal(plain, t); err != nil || time.Now().Unix() >= t.Until {
		return nil, false, void
	}

	var standing auth.Who
	err = a.DB.ReadTx(ctx, t.Org, func(tx *postgres.Tx) (err error) {
		standing, err = a.Auth.Standing(ctx, tx, auth.Who{User: t.User, Key: t.Key, Staff: t.Staff})
		return err
	})
	switch {
	case fault.Is(err, fault.InvalidToken):
		return nil, false, void
	case err != nil:
		return nil, false, err
	case !standing.Role.Includes(auth.Owner), standing.Closed != auth.Open:
		return nil, false, void
	}

	cookies, _ := http.ParseCookie(in.Cookies)
	for _, c := range cookies {
		if c.Name == a.onboardingCookieName() && len(t.Digest) > 0 {
			sum := sha256.Sum256([]byte(c.Value))
			ours = ours || subtle.ConstantTimeCompare(sum[:], t.Digest) == 1
		}
	}

	return t, ours, nil
}

// onboardingReturned handles the browser's return. The return proves nothing about the account, so the handler reads
// the account from the payment processor.
func (a *App) onboardingReturned(ctx context.Context, in *onboardedIn) (*onboardedOut, error) {
	t, ours, err := a.openOnboarding(ctx, in)
	if err != nil {
		return nil, err
	}

	ctx = httpx.WithOrg(ctx, t.Org)
	if err := a.resellers.Returned(ctx, t.Org); err != nil {
		a.Log.WarnContext(ctx, "reading a connected account on return failed", "error", err)
		return a.onboardingPage(ctx, t.Org, "Thank you",
			"The payment processor cannot be asked just now. The state of the account will be shown shortly.")
	}
	if !ours {
		return a.onboardingPage(ctx, t.Org, "Thank you",
			"Go back to where you began: the state of the account is shown there.")
	}

	var c *connect.Account
	err = a.DB.ReadTx(ctx, t.Org, func(tx *postgres.Tx) (err error) {
		c, err = connect.Read(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}

	switch c.State {
	case connect.Enabled:
		return a.onboardingPage(ctx, t.Org, "All is in order",
			"You can bill your clients now. You can close this page.")
	case connect.PendingReview:
		return a.onboardingPage(ctx, t.Org, "Almost done",
			"The payment processor is looking at what you gave. You can close this page.")
	default:
		return a.onboardingPage(ctx, t.Org, "Something is missing",
			"The payment processor needs more of you: go back to where you began, and go on from there.")
	}
}

// onboardingRefreshed redirects the browser that began to a new link, since its link was used or has expired. Another
// browser gets no link, because a link is equivalent to a login.
func (a *App) onboardingRefreshed(ctx context.Context, in *onboardedIn) (*onboardedOut, error) {
	t, ours, err := a.openOnboarding(ctx, in)
	if err != nil {
		return nil, err
	}

	ctx = httpx.WithOrg(ctx, t.Org)
	if !ours {
		return a.onboardingPage(ctx, t.Org, "This link is over", "Go back to where you began, and ask for a new one.")
	}
	if err := a.Plans.Need(ctx, t.Org, plans.WhiteLabeling); err != nil {
		return nil, err
	}

	link, err := a.onboardingLink(ctx, t)
	if err != nil {
		return nil, err
	}
	if _, err := url.Parse(link.URL); err != nil {
		return nil, fmt.Errorf("read link: %w", err)
	}

	return &onboardedOut{Status: http.StatusSeeOther, Location: link.URL}, nil
}

// onboardingPage returns a page in the brand of the org.
func (a *App) onboardingPage(ctx context.Context, org id.ID, title, text string) (out *onboardedOut, err error) {
	shown := a.pages.BrandOf(ctx, org)
	out = &onboardedOut{Status: http.StatusOK, Kind: "text/html; charset=utf-8"}
	out.Body, out.Policy, err = shown.Render(pages.Message(title, text))
	return out, err
}

package social_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

func TestALoginWithoutAnIDTokenSaysThatOnlyANewLoginHelps(t *testing.T) {
	t.Parallel()
	f := fault.Of(social.Failure(&provider.Error{
		Class: provider.Dead, Platform: "outlook", Code: provider.NoIDToken, Status: 200,
	}))
	if f == nil || f.Code != fault.ProviderRefused || f.RetryAfter != 0 || !strings.Contains(f.Detail, "id_token") ||
		!strings.Contains(f.Detail, "Only a new login helps") {
		t.Errorf("the fault is %+v", f)
	}
}

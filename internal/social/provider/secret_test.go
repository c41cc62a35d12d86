package provider_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/social/provider"
)

func TestASecretShowsItselfToNobody(t *testing.T) {
	t.Parallel()
	const planted = "planted-token"
	token := provider.Token{Access: planted, Refresh: planted, IssuedAt: time.Now(), Scopes: []string{"a"}}
	app := provider.App{ClientID: "id", ClientSecret: planted, DeveloperToken: planted}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).InfoContext(t.Context(), "shown", "token", token, "secret", token.Access,
		"pointer", &token)
	slog.New(slog.NewTextHandler(&log, nil)).InfoContext(t.Context(), "shown", "token", token, "secret", token.Access,
		"account", provider.Account{Token: planted})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb+verb+verb+"\n", token, token.Access, app)
	}
	raw, err := json.Marshal(map[string]any{"token": token, "app": app, "secret": provider.Secret(planted)})
	if err != nil {
		t.Fatal(err)
	}
	shown := log.String() + string(raw)
	for _, form := range []string{planted, fmt.Sprintf("%x", planted), "706c616e746564"} {
		if strings.Contains(shown, form) {
			t.Errorf("the secret is shown as %q in\n%s", form, shown)
		}
	}
	if !strings.Contains(shown, "[secret]") || token.Access.Reveal() != planted {
		t.Errorf("nothing was shown, or nothing can be revealed:\n%s", shown)
	}
}

package command

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestAnUnknownSettingInTheEnvironmentIsWarnedOf(t *testing.T) {
	t.Parallel()
	var c cli
	app := kong.Must(&c, kong.Vars{"version": ""}, kong.PostBuild(setHelp), helpGroups()).Model
	for name, hint := range map[string]string{
		"FUNNELWORK_SINGUP": "FUNNELWORK_SIGNUP", "FUNNELWORK_PUBLIC_URLS": "FUNNELWORK_PUBLIC_URL",
		"FUNNELWORK_LOGLEVEL": "FUNNELWORK_LOG_LEVEL", "FUNNELWORK_ZZZZZZZZ": "",
		"FUNNELWORK_SIGNUP": "-", "FUNNELWORK_ACTOR": "-", "FUNNELWORK_USER_PASSWORD": "-", "HOME": "-",
		"FUNNELWORK_API_SERVICE_HOST": "-", "FUNNELWORK_API_PORT_8080_TCP_ADDR": "-", "FUNNELWORK_API_PORT": "-",
	} {
		var said bytes.Buffer
		warnUnknown(t.Context(), slog.New(slog.NewTextHandler(&said, nil)), app, []string{name + "=secret", "A=b"})
		switch {
		case hint == "-" && said.Len() > 0:
			t.Errorf("%s: %s", name, &said)
		case hint != "-" && (!strings.Contains(said.String(), name) || !strings.Contains(said.String(), hint)):
			t.Errorf("%s: %q, want %s", name, &said, hint)
		case strings.Contains(said.String(), "secret"):
			t.Errorf("%s: its value is logged", name)
		}
	}
}

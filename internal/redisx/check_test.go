package redisx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestARedisThatCanBeUsedIsKnownByItsVersion(t *testing.T) {
	t.Parallel()
	version, err := redisx.Check(t.Context(), testkit.RealRedis(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(version, ".") < 1 {
		t.Errorf("version = %q", version)
	}
}

func TestARedisThatRefusesTheLoginIsUnfit(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	server.RequireAuth("correct")
	for name, login := range map[string]string{"a wrong password": ":hunter2@", "no password": ""} {
		_, err := redisx.Check(t.Context(), "redis://"+login+server.Addr())
		if !errors.Is(err, redisx.ErrUnfit) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v repeats the password", name, err)
		}
	}
}

func TestARedisThatIsAwayIsNotUnfit(t *testing.T) {
	t.Parallel()
	_, err := redisx.Check(t.Context(), "redis://127.0.0.1:1")
	if err == nil || errors.Is(err, redisx.ErrUnfit) {
		t.Errorf("err = %v", err)
	}
}

func TestTheAddressOfARedisHasNoLogin(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://u:hunter2@cache:7000/3":              "cache:7000",
		"redis+cluster://:hunter2@a,b:2":              "a:6379,b:2",
		"redis+sentinel://:hunter2@s1,s2:5/mymaster":  "s1:26379,s2:5",
		"unix://u:hunter2@/run/redis.sock":            "/run/redis.sock",
		"http://:hunter2@cache":                       "",
		"rediss://cache?password=hunter2&no_such_key": "",
	} {
		if got := redisx.Address(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

package postgres_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestAServerThatWillDoIsKnownByItsVersion(t *testing.T) {
	t.Parallel()
	version, err := postgres.Check(t.Context(), testkit.DB(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	if version == "" || strings.Contains(version, " ") {
		t.Errorf("version = %q", version)
	}
}

func TestAServerThatIsAwayIsLostAndNamesItsSetting(t *testing.T) {
	t.Parallel()
	_, err := postgres.Check(t.Context(), "postgres://u:hunter2@127.0.0.1:1/app")
	if !postgres.Lost(err) {
		t.Fatalf("err = %v", err)
	}
	want := "DATABASE_URL: connect to 127.0.0.1:1/app: connect: connection refused"
	if err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}

func TestABadURLIsRefusedWithoutRepeatingItsPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"nonsense", "mysql://u:hunter2@h/x", "://u:hunter2@x", "postgres://u:hunter2%zz@h/x",
		"postgres://u:hunter2@h:port/x",
		"postgres://u:hunter2@h/x?sslmode=odd", "host=a password='hunter2 port=x", "host=a password=a hunter2 port=x",
	} {
		err := postgres.CheckURL(url)
		if err == nil {
			t.Errorf("%s was taken", url)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
		if !strings.Contains(err.Error(), "want postgres://") {
			t.Errorf("%s: %v does not say what is wanted", url, err)
		}
		if postgres.Address(url) != "" {
			t.Errorf("%s: address %q", url, postgres.Address(url))
		}
	}
}

func TestTheAddressOfADatabaseHasNoLogin(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://u:hunter2@db.example:5433/app":           "db.example:5433/app",
		"host=db.example user=u password=hunter2 dbname=app": "db.example:5432/app",
		"postgres:///app?host=/run/postgresql":               "/run/postgresql:5432/app",
	} {
		if got := postgres.Address(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

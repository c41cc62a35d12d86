package command

import (
	"os"
	"path/filepath"
	"testing"
)

// A start that is interrupted between any two steps leaves a password that the next one prints.
func TestTheFirstLoginIsKeptUntilItIsPrinted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const email = "demo@example.com"
	open := func(given string, known bool) *firstLogin {
		t.Helper()
		login, err := openFirstLogin(home, email, given, known)
		if err != nil {
			t.Fatal(err)
		}
		return login
	}
	first := open("", false) // interrupted before the user was added
	if len(first.Password) != 16 || first.Pending {
		t.Fatalf("%+v", first)
	}
	info, err := os.Stat(filepath.Join(home, loginFile))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
	if again := open("", false); again.Password != first.Password {
		t.Errorf("%q, want %q", again.Password, first.Password)
	}
	if given := open("correct-horse", false); given.Password != "correct-horse" || given.Pending {
		t.Errorf("%+v, want the password given for a user who was not added", given)
	}
	added := open("ignored", true) // interrupted after the user was added
	if !added.Pending || added.Password != "correct-horse" {
		t.Errorf("%+v, want the one that was not printed", added)
	}
	if err := added.forget(); err != nil {
		t.Fatal(err)
	}
	if err := added.forget(); err != nil {
		t.Errorf("forgotten twice: %v", err)
	}
	if printed := open("", true); printed.Pending || printed.Password != "" {
		t.Errorf("%+v, want no password", printed)
	}
	if _, err := os.Stat(filepath.Join(home, loginFile)); err == nil {
		t.Error("a password is stored for a user who is known")
	}
}

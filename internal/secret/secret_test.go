package secret_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/secret"
)

const about = "webhook_endpoint/org/1"

func TestWhatIsSealedOpensUnderTheSameContextAlone(t *testing.T) {
	t.Parallel()
	text, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, plain := range [][]byte{nil, []byte("whsec_x"), bytes.Repeat([]byte{0}, 1<<20)} {
		sealed, err := box.Seal(plain, about)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := box.Open(sealed, about); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("opened %d bytes of %d: %v", len(got), len(plain), err)
		}
		if _, err := box.Open(sealed, "webhook_endpoint/org/2"); err == nil {
			t.Error("a sealing opened in another row")
		}
		sealed[len(sealed)-1] ^= 1
		if _, err := box.Open(sealed, about); err == nil {
			t.Error("a changed sealing opened")
		}
		if again, err := box.Seal(plain, about); err != nil || bytes.Equal(again, sealed) {
			t.Errorf("the same bytes were sealed twice alike: %v", err)
		}
	}
	if _, err := box.Open([]byte("x"), about); err == nil {
		t.Error("nonsense opened")
	}
}

func TestAKeysetGivenAsTextIsRefusedWhenItIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "!", "e30=", "eyJrZXkiOltdfQ=="} {
		if _, err := secret.Parse(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestProcessesThatStartAtOnceShareOneKeyset(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyset.json")
	var (
		wg    sync.WaitGroup
		boxes [16]*secret.Sealer
		errs  [16]error
	)
	for i := range boxes {
		wg.Go(func() { boxes[i], errs[i] = secret.Create(path) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := boxes[i].Seal([]byte("x"), about)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := boxes[0].Open(sealed, about); err != nil {
			t.Errorf("box %d has another keyset: %v", i, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".keyset-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind %v (%v)", left, err)
	}
}

func TestARotatedKeysetOpensTheOldAndReachesRunningProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyset.json")
	running, err := secret.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := running.Seal([]byte("old"), about)
	if err != nil {
		t.Fatal(err)
	}
	var key uint32
	if err := secret.Edit(path, func(text string) (_ string, err error) {
		text, key, err = secret.Add(text)
		return text, err
	}); err != nil {
		t.Fatal(err)
	}
	added, err := secret.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	still, err := added.Seal([]byte("x"), about)
	if err != nil {
		t.Fatal(err)
	}
	if first, _ := secret.KeyOf(old); added.Ring().Primary != first {
		t.Errorf("primary key %v, want %v", added.Ring().Primary, first)
	}
	if newest := added.Ring().Newest(); newest != key {
		t.Errorf("newest key %v, want %v", newest, key)
	}
	if !bytes.Equal(still[:5], old[:5]) {
		t.Errorf("sealed under %x, want %x: a key that was only added seals", still[:5], old[:5])
	}
	if err := secret.Edit(path, func(text string) (string, error) { return secret.Promote(text, key) }); err != nil {
		t.Fatal(err)
	}
	rotated, err := secret.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := rotated.Seal([]byte("new"), about)
	if err != nil {
		t.Fatal(err)
	}
	if by, ok := secret.KeyOf(fresh); !ok || by != key {
		t.Errorf("the new key does not seal: %d does", by)
	}
	for name, box := range map[string]*secret.Sealer{"running": running, "rotated": rotated} {
		for want, sealed := range map[string][]byte{"old": old, "new": fresh} {
			if got, err := box.Open(sealed, about); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v; want %q", name, got, err, want)
			}
		}
	}
	first, _ := secret.KeyOf(old)
	if err := secret.Edit(path, func(text string) (string, error) { return secret.Drop(text, key) }); err == nil {
		t.Error("the key that seals was dropped")
	}
	if err := secret.Edit(path, func(text string) (string, error) { return secret.Drop(text, first) }); err != nil {
		t.Fatal(err)
	}
	if !running.Reload() || running.Ring().Holds(first) {
		t.Errorf("a running box kept a dropped key: %v", running.Ring())
	}
	if _, err := running.Open(old, about); err == nil {
		t.Error("what a dropped key sealed was opened")
	}
}

func TestABoxThatStoodStillSealsWithTodaysKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyset.json")
	box, err := secret.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var key uint32
	err = secret.Edit(path, func(text string) (_ string, err error) {
		if text, key, err = secret.Add(text); err == nil {
			text, err = secret.Promote(text, key)
		}
		return text, err
	})
	if err != nil {
		t.Fatal(err)
	}
	box.Forget()
	sealed, err := box.Seal([]byte("x"), about)
	if by, _ := secret.KeyOf(sealed); err != nil || by != key {
		t.Errorf("sealed with %d, %v; want %d", by, err, key)
	}
}

func TestAKeysetThatOthersMayReadIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyset.json")
	if _, err := secret.Create(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.Load(path); err == nil {
		t.Error("a keyset of mode 0644 was taken")
	}
}

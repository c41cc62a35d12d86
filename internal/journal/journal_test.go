package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/journal"
)

// holding is the environment variable with the directory in which a process of the test binary owns a file.
const holding = "FUNNELWORK_TEST_HOLDING"

func TestMain(m *testing.M) {
	if path := os.Getenv(holding); path != "" {
		hold(path)
	}
	os.Exit(m.Run())
}

// hold owns a file until the process is killed.
func hold(path string) {
	dir, err := journal.Open(path)
	if err == nil {
		err = dir.Own("own.journal").Write([]byte("held"))
	}
	fmt.Fprintln(os.Stdout, err)
	select {}
}

func open(t *testing.T) (*journal.Dir, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	dir, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir, path
}

func TestAFileOfAJournalCanBeReadByItsOwnerOnly(t *testing.T) {
	t.Parallel()
	dir, path := open(t)
	name, err := dir.Write("a.journal", []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	own := dir.Own("b.journal")
	if err := own.Write([]byte("b")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]os.FileMode{
		path: 0o700 | os.ModeDir, name: 0o600, filepath.Join(path, "b.journal"): 0o600,
	} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", file, info.Mode(), want)
		}
	}
}

func TestAFileOfAProcessIsAdoptedAfterItsEndOnly(t *testing.T) {
	t.Parallel()
	dir, path := open(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), holding+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var first [5]byte
	if _, err := out.Read(first[:]); err != nil || !strings.HasPrefix(string(first[:]), "<nil>") {
		t.Fatalf("%v, %s", err, first)
	}
	if files, err := dir.Adopt("own", ".journal"); err != nil || len(files) != 0 {
		t.Fatalf("%d files of a living process were adopted, %v", len(files), err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	files, err := dir.Adopt("own", ".journal")
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files were adopted, %v", len(files), err)
	}
	if body, err := files[0].Read(100); err != nil || string(body) != "held" {
		t.Errorf("%q, %v", body, err)
	}
	if again, err := dir.Adopt("own", ".journal"); err != nil || len(again) != 0 {
		t.Errorf("adopted twice: %d, %v", len(again), err)
	}
	if err := files[0].Remove(); err != nil {
		t.Fatal(err)
	}
	if left, err := dir.Files("own", ""); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestAFileThatItsProcessReplacesStaysItsOwn(t *testing.T) {
	t.Parallel()
	dir, _ := open(t)
	own := dir.Own("own.journal")
	for i := range 3 {
		if err := own.Write(fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
		if files, err := dir.Adopt("", ".journal"); err != nil || len(files) != 0 {
			t.Fatalf("adopted: %d, %v", len(files), err)
		}
	}
	own.Close()
	files, err := dir.Adopt("", ".journal")
	for err == nil && len(files) == 0 && t.Context().Err() == nil {
		// A process that another test starts holds the lock, too, until it runs its program.
		files, err = dir.Adopt("", ".journal")
	}
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if body, err := files[0].Read(100); err != nil || string(body) != "2" {
		t.Errorf("%q, %v", body, err)
	}
}

// TestAFileCutOrDamagedAnywhereLosesTheLinesThatItConcernsOnly cuts a file after each byte, and changes each byte.
func TestAFileCutOrDamagedAnywhereLosesTheLinesThatItConcernsOnly(t *testing.T) {
	t.Parallel()
	var body []byte
	lines := [][]byte{[]byte(`{"n":1}`), []byte(`{"n":22}`), []byte(`{"n":333}`)}
	var ends []int
	for _, line := range lines {
		body = journal.AppendLine(body, line)
		ends = append(ends, len(body))
	}
	for n := range len(body) + 1 {
		whole := 0
		for _, end := range ends {
			if end <= n {
				whole++
			}
		}
		got, damaged := journal.Lines(body[:n])
		if len(got) != whole || damaged > 1 {
			t.Errorf("cut after %d bytes: %d lines, %d damaged; want %d", n, len(got), damaged, whole)
		}
	}
	for n := range body {
		changed := bytes.Clone(body)
		changed[n] ^= 0x20
		got, _ := journal.Lines(changed)
		for _, line := range got {
			if !bytes.Equal(line, lines[0]) && !bytes.Equal(line, lines[1]) && !bytes.Equal(line, lines[2]) {
				t.Errorf("byte %d changed: %q was taken", n, line)
			}
		}
		if len(got) < 1 {
			t.Errorf("byte %d changed: all lines are lost", n)
		}
	}
}

package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/funnelwork/funnelwork/internal/journal"
)

// firstLogin is the password of up's demo user until it has been printed: it is stored before the user is, and removed
// after the block, so that no interruption leaves a user whose password was never printed. Its file is readable by its
// owner alone.
type firstLogin struct {
	file    string
	Email   string `json:"email"`
	Pending bool   `json:"-"` // an earlier start stored it, and did not print it
	// Password is of the demo user; "" if an earlier start has printed it.
	Password string `json:"password"`
}

// loginFile is the name of the file in the home.
const loginFile = "first-login.json"

// openFirstLogin returns the login of the user with this address, who is known if an earlier start has added the user:
// the one that it left unprinted, if any. For a new user it stores the given password, or one made up.
func openFirstLogin(home, email, password string, known bool) (*firstLogin, error) {
	login, err := readFirstLogin(home)
	if err != nil {
		return nil, err
	}
	if login.Email == email && (known || password == "") {
		login.Pending = true
		return login, nil
	}

	login = &firstLogin{file: login.file, Email: email}
	if known {
		return login, nil
	}

	login.Password = password
	if password == "" {
		login.Password = newPassword()
	}

	return login, login.store(home)
}

// readFirstLogin returns the unprinted login of the home, without an address if there is none.
func readFirstLogin(home string) (*firstLogin, error) {
	login := &firstLogin{file: filepath.Join(home, loginFile)}
	raw, err := os.ReadFile(login.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return login, nil
	case err != nil:
		return nil, fmt.Errorf("read first login: %w", err)
	}

	if err := json.Unmarshal(raw, login); err != nil {
		return nil, fmt.Errorf("read first login: %s: %w", login.file, err)
	}

	return login, nil
}

// store writes the file.
func (l *firstLogin) store(home string) error {
	raw, err := json.Marshal(map[string]string{"email": l.Email, "password": l.Password})
	if err != nil {
		return fmt.Errorf("store first login: %w", err)
	}
	dir, err := journal.Open(home)
	if err != nil {
		return fmt.Errorf("store first login: %w", err)
	}
	if _, err = dir.Write(loginFile, raw); err != nil {
		return fmt.Errorf("store first login: %w", err)
	}
	return nil
}

// forget removes the file, once the login has been printed or is not needed.
func (l *firstLogin) forget() error {
	err := os.Remove(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

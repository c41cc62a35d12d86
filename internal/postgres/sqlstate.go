package postgres

import "strings"

// The SQLSTATEs that the package tells apart.
const (
	readOnly           = "25006" // a standby, or default_transaction_read_only
	idleInTransaction  = "25P03" // idle_in_transaction_session_timeout
	transactionTimeout = "25P04"
	diskFull           = "53100"
	tooManySessions    = "53300"
	lockNotAvailable   = "55P03" // lock_timeout
	queryCanceled      = "57014" // statement_timeout, or an operator
	systemError        = "58000"
	ioError            = "58030"
)

// awayCode reports whether the server does not execute a statement for a reason that lies not in the statement but in
// the server or in what happens beside it.
func awayCode(code string) bool {
	switch code {
	case "40002", queryCanceled: // an integrity constraint, which a retry violates again; see TimedOut
		return false
	case readOnly, idleInTransaction, transactionTimeout, lockNotAvailable:
		return true
	}

	for _, class := range []string{
		"08", // connection exception
		"40", // transaction rollback: serialization failure, deadlock, unknown outcome
		"53", // insufficient resources
		"57", // operator intervention
		"58", // system error
		"72", // snapshot too old
	} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}

	return false
}

// lostCode reports whether every other transaction fails in the same way at the moment.
func lostCode(code string) bool {
	switch code {
	case readOnly, diskFull, tooManySessions, systemError, ioError:
		return true
	case queryCanceled:
		return false
	}
	return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57")
}

// refusesWrites reports whether the code raises a doubt that the server takes any writes.
func refusesWrites(code string) bool {
	return code == readOnly || code == diskFull || strings.HasPrefix(code, "58")
}

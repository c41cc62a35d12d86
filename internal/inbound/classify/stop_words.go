package classify

import "slices"

// words has what a request for no more mails is made of in a language: alternatives of expressions over folded text.
type words struct {
	unsubscribe string // verbs that are the request by themselves
	remove      string // verbs that are, with the writer as their object
	take        string // verbs that are, with the writer and what the writer is taken from
	me          string // the writer, or an address
	list        string // what the writer is removed from
	mails       string
	stop        string
	write       string // to write, to send, to contact
	not         string
	more        string // again, any more
	want        string
	get         string // to receive
	cannot      string // what says that something is not possible or not done
	other       string // what else may be removed, left or cancelled
	person      string // somebody else
	phrases     string // requests of other forms
}

// languages returns the words of those in which requests are read.
func languages() []words { return slices.Concat(germanicWords, romanceWords, othersWords) }

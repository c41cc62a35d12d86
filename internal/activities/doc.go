// Package activities keeps the notes that people write and the tasks that they have, about contacts, companies and deals.
//
// Every function works inside the caller's transaction, which is under one org; the caller announces the events.
//
// A subject that is named must be there, live, when it is named: a contact or a deal. A company may be any id, as
// everywhere. A note is about at least one of them, a task may be about nothing. What becomes of a subject later
// changes nothing here: an archived deal keeps its notes.
//
// A task's status decides completed_at. Completing is told once per completion: a task that is done is not done again
// until it was open, however many say so at once, because each of them locks its row.
package activities

// Package activities stores the notes and tasks of an org's users about contacts, companies and deals.
//
// Every function runs inside the caller's transaction, which is bound to one org. The caller announces the events.
//
// A contact or deal that a request names as subject must exist and be live at that moment. A company may be any id, as
// everywhere in the API. A note has at least one subject; a task may have none. Later changes of a subject do not
// affect its notes and tasks: an archived deal keeps its notes.
//
// The status of a task determines completed_at. A completion is announced once: a done task must be reopened before it
// can be completed again. Concurrent requests are serialized by the row lock of the task.
package activities

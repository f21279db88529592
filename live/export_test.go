package live

// QuietUntil asks the session's Source.
func QuietUntil(s *Session, t uint64) uint64 { return s.inbox.QuietUntil(t) }

package checkpoint

// Saver saves checkpoints of one run in the background, one at a time; the run waits only while its state is copied, or
// when it asks for a checkpoint before the one before is on disk. Close ends it.
type Saver struct {
	disk  Disk
	dir   string
	saved func(path string, burst uint64)
	next  Checkpoint
	done  chan error // of the save in progress; nil: there is none
}

// NewSaver makes a Saver for a folder that exists. what is what every checkpoint of the run has in common; saved, unless
// nil, is told of each one that is on disk, by the goroutine that saves.
func NewSaver(d Disk, dir string, what Checkpoint, saved func(path string, burst uint64)) *Saver {
	return &Saver{disk: d, dir: dir, next: what, saved: saved}
}

// Next waits for the save in progress and lends the memory of the next checkpoint, to be filled before Save.
func (s *Saver) Next() (*Checkpoint, error) {
	if err := s.Close(); err != nil {
		return nil, err
	}
	return &s.next, nil
}

// Save begins to save what Next has lent. offsets waits until the recordings are on disk up to the checkpoint's burst.
func (s *Saver) Save(offsets func() ([]Recording, error)) {
	done := make(chan error, 1)
	s.done = done
	go func() { done <- s.save(offsets) }()
}

func (s *Saver) save(offsets func() ([]Recording, error)) error {
	var err error
	if s.next.Recordings, err = offsets(); err != nil {
		return err
	}
	path, err := Save(s.disk, s.dir, &s.next)
	if err == nil && s.saved != nil {
		s.saved(path, s.next.State.Number)
	}
	return err
}

// Close waits for the save in progress and returns its error, once.
func (s *Saver) Close() error {
	if s.done == nil {
		return nil
	}
	err := <-s.done
	s.done = nil
	return err
}

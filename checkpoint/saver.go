package checkpoint

// Saver saves checkpoints of one run in the background, one at a time; the run waits only while its state is copied, or
// when it asks for a checkpoint before the one before is on disk. Close ends it.
type Saver struct {
	disk Disk
	dir  string
	next Checkpoint
	done chan error // of the save in progress; nil: there is none
}

// NewSaver makes a Saver for a folder that exists. what is what every checkpoint of the run has in common.
func NewSaver(d Disk, dir string, what Checkpoint) *Saver {
	return &Saver{disk: d, dir: dir, next: what}
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
	_, err = Save(s.disk, s.dir, &s.next)
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

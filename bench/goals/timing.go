package goals

import "time"

// job does a piece of work once and returns the seconds it took.
type job func() (seconds float64, err error)

// timed makes a job of f, measured by the wall clock.
func timed(f func() error) job {
	return func() (float64, error) {
		began := time.Now()
		err := f()
		return time.Since(began).Seconds(), err
	}
}

// brief is the time in seconds below which a job counts as brief; the rounds of a brief job are repeated until
// they have taken as long in total.
const brief = 0.3

// awake runs a brief job twice and returns the seconds of the second run: a processor that was idle while
// another program ran needs milliseconds to reach full speed again.
func awake(j job) job {
	return func() (float64, error) {
		seconds, err := j()
		if err != nil || seconds >= brief {
			return seconds, err
		}
		return j()
	}
}

// byTurns runs the jobs in turn, round after round, for as long as more, which gets the first job's seconds,
// returns true. It returns the median seconds of each job.
func byTurns(more func(first []float64) bool, jobs ...job) ([]float64, error) {
	all, medians := make([][]float64, len(jobs)), make([]float64, len(jobs))
	for more(all[0]) {
		for k, j := range jobs {
			seconds, err := j()
			if err != nil {
				return nil, err
			}
			all[k] = append(all[k], seconds)
		}
	}
	for k, seconds := range all {
		medians[k] = median(seconds)
	}
	return medians, nil
}

// inTurn times two functions in turn and returns the median seconds of each.
func (t *table) inTurn(f, g func() error) (one, two float64, err error) {
	medians, err := byTurns(func(first []float64) bool { return len(first) < t.rounds() }, timed(f), timed(g))
	if err != nil {
		return 0, 0, err
	}
	return medians[0], medians[1], nil
}

package goals

import "time"

// job is done once, and says how many seconds it took.
type job func() (seconds float64, err error)

// timed makes a job of f, by the clock.
func timed(f func() error) job {
	return func() (float64, error) {
		began := time.Now()
		err := f()
		return time.Since(began).Seconds(), err
	}
}

// brief is in how many seconds a job is done that is repeated until its rounds have taken as many.
const brief = 0.3

// awake is a job that is done twice if it is brief, and takes the seconds of the last time: a processor
// that slept while another program ran needs milliseconds to be as fast as before.
func awake(j job) job {
	return func() (float64, error) {
		seconds, err := j()
		if err != nil || seconds >= brief {
			return seconds, err
		}
		return j()
	}
}

// byTurns does jobs one after the other, again for as long as the seconds of the first ask for more, and returns the median
// seconds of each.
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

// inTurn times two things, one after the other, and returns their medians.
func (t *table) inTurn(f, g func() error) (one, two float64, err error) {
	medians, err := byTurns(func(first []float64) bool { return len(first) < t.rounds() }, timed(f), timed(g))
	if err != nil {
		return 0, 0, err
	}
	return medians[0], medians[1], nil
}

from deepcrib.agents import Agent as Agent
from deepcrib.agents import make_agent as make_agent
from deepcrib.evaluation.evaluate import Evaluation as Evaluation
from deepcrib.game.engine import Games as Games
from deepcrib.game.observations import DiscardObservation as DiscardObservation
from deepcrib.game.observations import PlayObservation as PlayObservation
from deepcrib.jobs.python import TrainedRun as TrainedRun
from deepcrib.jobs.python import evaluate as evaluate
from deepcrib.jobs.python import train as train
from deepcrib.matches import play_hand as play_hand
from deepcrib.matches import play_match as play_match
from deepcrib.training.fit import Callback as Callback
from deepcrib.training.fit import fit as fit
from deepcrib.training.learner import Learner as Learner

__version__: str

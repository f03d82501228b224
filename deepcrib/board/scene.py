"""The picture of a table, put together from sprites. Needs Pillow.

From the top: the board, the opponents side by side, the play with starter and crib, and the viewer's own hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from deepcrib.board import words
from deepcrib.board.sprites import (
    INK,
    LABEL_COLORS,
    LEFT,
    PEG_SIZE,
    SEAT_COLORS,
    WHITE,
    WIDTH,
    WOOD_INK,
    Color,
    board_sprite,
    card_sprite,
    font,
    hole_position,
    peg_sprite,
)
from deepcrib.board.track import FIRST_HOLE, LAST_HOLE, peg_holes
from deepcrib.board.view import HIDDEN, TableView
from deepcrib.game.cards import NO_CARD

HEIGHT = 640
MARGIN = 16
TABLE, PANEL, QUIET, BRIGHT = (38, 54, 66), (50, 69, 83), (176, 190, 200), (255, 214, 90)
CARD, OWN_CARD = (58, 82), (72, 102)
OPPONENTS_TOP, PLAY_TOP, OWN_TOP = 182, 308, 458
PLAY_LEFT, PLAY_WIDTH = 282, WIDTH - MARGIN - 282


def draw_table(view: TableView) -> NDArray[np.uint8]:
    """uint8 [640, 960, 3] of a view."""
    image = _background(view.num_players).copy()
    draw = ImageDraw.Draw(image)
    own = view.viewer or 0
    others = [(own + step) % view.num_players for step in range(1, view.num_players)]
    _pegs(image, draw, view)
    for index, seat in enumerate(others):
        _opponent(image, draw, view, seat, index)
    _starter_and_crib(image, draw, view)
    _play(image, draw, view)
    _own(image, draw, view, own)
    return np.array(image)


@cache
def _background(num_players: int) -> Image.Image:
    image = Image.new("RGB", (WIDTH, HEIGHT), TABLE)
    image.paste(board_sprite(num_players), (0, 0))
    draw = ImageDraw.Draw(image)
    width = _panel_width(num_players)
    for index in range(num_players - 1):
        left = MARGIN // 2 + index * width
        draw.rounded_rectangle((left + 2, OPPONENTS_TOP, left + width - 4, PLAY_TOP - 8), 8, PANEL)
    draw.rounded_rectangle((MARGIN // 2 + 2, OWN_TOP, WIDTH - MARGIN // 2 - 4, HEIGHT - 8), 8, PANEL)
    return image


def _panel_width(num_players: int) -> int:
    return (WIDTH - MARGIN) // (num_players - 1)


def _pegs(image: Image.Image, draw: ImageDraw.ImageDraw, view: TableView) -> None:
    """The pegs, and at both ends of each track whose it is."""
    for seat in range(view.num_players):
        for hole in (FIRST_HOLE, LAST_HOLE):
            _, y = hole_position(view.num_players, seat, hole)
            draw.text((LEFT // 2 + 1, y), words.labels_of(view.names)[seat], WOOD_INK, font(12), anchor="mm")
        front, back = peg_holes(view.scores[seat], view.previous_scores[seat])
        for hole, is_front in ((back, False), (front, True)):
            x, y = hole_position(view.num_players, seat, hole)
            sprite = peg_sprite(seat, is_front)
            image.paste(sprite, (x - PEG_SIZE // 2, y - PEG_SIZE // 2), sprite)


def _cards(
    image: Image.Image,
    cards: Sequence[int],
    corner: tuple[int, int],
    size: tuple[int, int],
    width: int,
    faded_before: int = 0,
) -> list[int]:
    """Put cards side by side into a width, over one another where they must be; returns their left edges."""
    step = min(size[0] + 8, (width - size[0]) // max(len(cards) - 1, 1))
    lefts = [corner[0] + step * index for index in range(len(cards))]
    for index, (card, left) in enumerate(zip(cards, lefts, strict=True)):
        if card != NO_CARD:
            sprite = card_sprite(card, *size, index < faded_before)
            image.paste(sprite, (left, corner[1]), sprite)
    return lefts


def _badge(draw: ImageDraw.ImageDraw, view: TableView, seat: int, middle: tuple[int, int], radius: int = 9) -> None:
    """The disc of a player's colour with its label."""
    x, y = middle
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), SEAT_COLORS[seat], INK)
    draw.text(middle, words.labels_of(view.names)[seat], LABEL_COLORS[seat], font(radius + 4), anchor="mm")


def _fitted(draw: ImageDraw.ImageDraw, name: str, size: int, width: int) -> str:
    """A name, cut off where it would be wider, pixels."""
    text = words.shortened(name)
    while len(text) > 1 and draw.textlength(text, font(size)) > width:
        text = text.rstrip("~")[:-1] + "~"
    return text


def _name_line(draw: ImageDraw.ImageDraw, view: TableView, seat: int, left: int, top: int, width: int) -> None:
    """Badge, name, points with the last ones, and dealer, go or what the show counted."""
    _badge(draw, view, seat, (left + 10, top + 10))
    color: Color = BRIGHT if seat == view.turn else WHITE
    x = left + 28
    for text, size, paint in (
        (_fitted(draw, view.names[seat], 17, width - 210), 17, color),
        (str(view.scores[seat]), 20, WHITE),
        (words.last_points(view, seat) if not view.hand_points else "", 14, QUIET),
        ("dealer" if seat == view.dealer else "", 14, QUIET),
        ("go" if view.goes[seat] else "", 17, BRIGHT),
        (f"{view.hand_points[seat]} points" if view.hand_points else "", 14, BRIGHT),
    ):
        if text:
            draw.text((x, top + 16), text, paint, font(size), anchor="ls")
            x += round(draw.textlength(text, font(size))) + 10


def _opponent(image: Image.Image, draw: ImageDraw.ImageDraw, view: TableView, seat: int, index: int) -> None:
    width = _panel_width(view.num_players)
    left = MARGIN // 2 + index * width + 10
    _name_line(draw, view, seat, left, OPPONENTS_TOP + 6, width)
    cards = [card for card in view.hands[seat] if card != NO_CARD]
    _cards(image, cards, (left, OPPONENTS_TOP + 32), CARD, width - 26)


def _starter_and_crib(image: Image.Image, draw: ImageDraw.ImageDraw, view: TableView) -> None:
    top = PLAY_TOP + 28
    for left, text in ((MARGIN, "starter"), (MARGIN + 84, _crib_title(draw, view))):
        draw.text((left, PLAY_TOP + 18), text, QUIET, font(14), anchor="ls")
    _cards(image, [HIDDEN if view.starter == NO_CARD else view.starter], (MARGIN, top), CARD, CARD[0])
    _cards(image, view.crib, (MARGIN + 84, top), CARD, 160)


def _crib_title(draw: ImageDraw.ImageDraw, view: TableView) -> str:
    points = f"  {view.crib_points} points" if view.hand_points else ""
    return f"crib: {_fitted(draw, view.names[view.dealer], 14, 76)}{points}"


def _play(image: Image.Image, draw: ImageDraw.ImageDraw, view: TableView) -> None:
    """The cards laid, those of earlier series faded, under each whose it was; and the count."""
    top = PLAY_TOP + 28
    lefts = _cards(
        image, [card for _, card in view.history], (PLAY_LEFT, top), CARD, PLAY_WIDTH, faded_before=view.series_start
    )
    for (seat, _), left in zip(view.history, lefts, strict=True):
        _badge(draw, view, seat, (left + 13, top + CARD[1] + 12))
    if view.phase == "play":
        draw.text((PLAY_LEFT, PLAY_TOP + 18), "count", QUIET, font(14), anchor="ls")
        draw.text((PLAY_LEFT + 44, PLAY_TOP + 19), str(view.count), WHITE, font(20), anchor="ls")


def _own(image: Image.Image, draw: ImageDraw.ImageDraw, view: TableView, seat: int) -> None:
    """The hand at the lower edge with the slots that may be chosen, own discards, and what is to be done."""
    left, top = MARGIN + 4, OWN_TOP + 34
    _name_line(draw, view, seat, left, OWN_TOP + 8, WIDTH // 2)
    draw.text((WIDTH - MARGIN - 4, OWN_TOP + 24), words.headline(view), QUIET, font(14), anchor="rs")
    hand = view.hands[seat]
    lefts = _cards(image, hand, (left, top), OWN_CARD, 480)
    if view.turn == seat and view.legal is not None:
        for slot in view.legal:
            x, y = lefts[slot], top
            draw.rounded_rectangle((x - 2, y - 2, x + OWN_CARD[0] + 1, y + OWN_CARD[1] + 1), 9, None, BRIGHT, 3)
            draw.text((x + OWN_CARD[0] // 2, y + OWN_CARD[1] + 20), str(slot), WHITE, font(16), anchor="ms")
    if view.thrown and not view.hand_points:
        draw.text((560, top + 12), "own discards", QUIET, font(14), anchor="ls")
        _cards(image, view.thrown, (560, top + 20), CARD, 130)
    draw.text((WIDTH - MARGIN - 4, HEIGHT - 20), words.task(view), BRIGHT, font(19), anchor="rs")

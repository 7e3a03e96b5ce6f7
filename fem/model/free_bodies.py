"""Free rigid bodies without rotations: points, rods between them, and equations.

Four points at the corners of a regular tetrahedron around the reference node (two, of a body that is slender) keep
their distances, so that they move as the body does, and every other point of it is a linear combination of them:

    x = sum of w_j x_j,    w_j = 1/c (1 + n s_j.(X - X_r)/|s|^2)       c points at X_r + s_j, n dimensions they span

The inertia of the body about its reference node is a mass matrix between them (Routh, Advanced Rigid Dynamics, 1884,
for its equimomental points). With S the integral of x x^T dm, the tensor I = tr(S) 1 - S,

    M_ij = (n/(c |s|^2))^2 s_i.S s_j

The sum of each row is 0: the mass of the body, at the reference node, is that of its MASS elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fem.arrays import Floats, frozen

TETRAHEDRON = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
SLENDER = 1e-9
"""Second moments below this fraction of the largest are zero: rounding errors of differences of moments of inertia."""
ROUND_OFF = 1e-15
"""Sine of an angle that is half a turn within rounding errors."""


class NoBody(ValueError):
    """No rigid body has these moments of inertia; the message says why."""


@frozen
class RotaryInertia:
    """``*ROTARY INERTIA``: I11, I22, I33, I12, I13, I23, components of the tensor (I12: minus the integral of xy)."""

    element_set: str
    moments: tuple[float, ...]

    def along(self, axes: Floats) -> RotaryInertia:
        """The inertia of the body after a rotation of its axes to the rows of ``axes`` (3, 3)."""
        tensor = axes.T @ tensor_of(self.moments) @ axes
        return replace(self, moments=(*np.diag(tensor).tolist(), *tensor[[0, 0, 1], [1, 2, 2]].tolist()))


def tensor_of(moments: tuple[float, ...]) -> Floats:
    """(3, 3) tensor of inertia from its six components."""
    i11, i22, i33, i12, i13, i23 = moments
    return np.array([[i11, i12, i13], [i12, i22, i23], [i13, i23, i33]])


def second_moments(moments: tuple[float, ...]) -> Floats:
    """S (3, 3) from the six components of a tensor of inertia. Raises NoBody."""
    tensor = tensor_of(moments)
    found = np.asarray(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    own = np.linalg.eigvalsh(found)
    if not own[2] > 0.0:
        raise NoBody("the moments of inertia are not positive")
    if own[0] < -SLENDER * own[2]:
        raise NoBody("no body has these moments of inertia: one of the principal ones exceeds the sum of the others")
    return found


def corners_of(second: Floats, size: float) -> Floats:
    """s (c, 3): four points of a body, or two where it is slender, within ``size`` of the reference node."""
    own, axes = np.linalg.eigh(second)
    if own[1] <= SLENDER * own[2]:
        return np.outer((size, -size), axes[:, 2])
    return np.asarray(size / np.sqrt(3.0) * TETRAHEDRON @ axes.T)


def gradients(corners: Floats) -> Floats:
    """(c, 3) gradients of the weights: a vector fixed in the body is the sum of (gradient . vector) x_j."""
    count, dimensions = len(corners), 3 if len(corners) > 2 else 1
    return np.asarray(corners * (dimensions / (count * (corners**2).sum(axis=1))[:, None]))


def weights(corners: Floats, arms: Floats) -> Floats:
    """(p, c) weights w_j of points at ``arms`` (p, 3) from the reference node."""
    return np.asarray(1.0 / len(corners) + arms @ gradients(corners).T)


def components_that_hold(vectors: Floats, rotations: Sequence[int]) -> list[tuple[int, int]]:
    """Components (vector, axis) of three vectors of a body that must be held to prevent rotation about some axes.

    vectors    (3, 3)  as they are now, in rows: R e_k
    rotations  three axes, or two: then R e_k has constant components along the third
    A rotation w changes component a of R e_k by w.(R e_k x e_a). The components are chosen one by one, each the most
    independent of those before (pivots of QR); there are fewer if all vectors lie on the axis of a slender body.
    """
    from scipy.linalg import qr

    along = [axis for axis in range(3) if axis not in rotations] or [0, 1, 2]
    pairs = [(k, axis) for k in range(3) for axis in along]
    turns = np.array([np.cross(vectors[k], np.eye(3)[axis]) for k, axis in pairs])
    upper, order = qr(turns.T, mode="r", pivoting=True)
    count = np.count_nonzero(np.abs(upper.diagonal()) > SLENDER * np.linalg.norm(vectors))
    return [pairs[at] for at in order[:count]]


def mass_between(corners: Floats, second: Floats) -> Floats:
    """M (c, c)."""
    own = gradients(corners)
    return np.asarray(own @ second @ own.T)


def rotation(corners: Floats, places: Floats) -> Floats:
    """R (..., 3, 3) from the points at the start (c, 3), about their middle, and later (..., c, 3).
    Two points of a slender body do not determine the rotation about its axis: R is then the smallest rotation."""
    if len(corners) > 2:
        moved = np.einsum("...ci,cj->...ij", places, gradients(corners))
        left, _, right = np.linalg.svd(moved)
        return np.asarray(left @ right)
    axis = corners[0] / np.linalg.norm(corners[0])
    now = places[..., 0, :] - places[..., 1, :]
    cosine = (now @ axis)[..., None]
    across = now - cosine * axis
    sine = np.linalg.norm(across, axis=-1, keepdims=True)
    other = np.eye(3)[np.abs(axis).argmin()]  # reversed direction: half a turn about any perpendicular axis
    side = np.where(sine > ROUND_OFF * np.abs(cosine), across, other)
    side = side - (side @ axis)[..., None] * axis
    side = side / np.linalg.norm(side, axis=-1, keepdims=True)
    return rotation_of(np.arctan2(sine, cosine) * np.cross(axis, side))


ON_A_LINE = 1e-6
"""Extent of points across a line, as a fraction of that along it, below which they lie on it."""


def fitted_rotation(arms: Floats, places: Floats) -> Floats | None:
    """R (..., 3, 3) from any points of a rigid body, at the start (c, 3), about their middle, and later (..., c, 3);
    None: they lie on a line. Source: Kabsch, Acta Cryst. A 32 (1976) 922-923."""
    extent = np.linalg.svd(arms, compute_uv=False)
    if len(arms) < 3 or extent[1] <= ON_A_LINE * extent[0]:
        return None
    left, _, right = np.linalg.svd(np.einsum("...ci,cj->...ij", places, arms))
    left[..., 2] *= np.linalg.det(left @ right)[..., None]
    return np.asarray(left @ right)


def rotation_vector(turned: Floats) -> Floats:
    """(..., 3) rotation vectors, of length 0 to pi, of rotation matrices (..., 3, 3)."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(turned.reshape(-1, 3, 3)).as_rotvec().reshape(turned.shape[:-1]))


def rotation_of(vector: Floats) -> Floats:
    """(..., 3, 3) rotation matrices of rotation vectors (..., 3)."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(vector.reshape(-1, 3)).as_matrix().reshape(*vector.shape, 3))


def spin(places: Floats, velocities: Floats) -> Floats:
    """Angular velocity (..., 3) that fits the velocities of the points at ``places`` (..., c, 3) in least squares."""
    arms = places - places.mean(axis=-2, keepdims=True)
    inertia = np.einsum("...ck,...ck->...", arms, arms)[..., None, None] * np.eye(3)
    inertia = inertia - np.einsum("...ci,...cj->...ij", arms, arms)
    momentum = np.cross(arms, velocities).sum(axis=-2)
    return np.asarray((np.linalg.pinv(inertia, rcond=1e-9, hermitian=True) @ momentum[..., None])[..., 0])

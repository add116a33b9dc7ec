"""The first schema: assets, photos and their analyses, conversations, the attempt ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "assets",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("mime_type", sa.String(length=127), nullable=False),
        sa.Column("byte_size", sa.Integer(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("file_name", sa.String(length=512), nullable=True),
        sa.Column("display_name", sa.String(length=512), nullable=True),
        sa.Column("blob_key", sa.String(length=255), nullable=False),
        sa.Column("working_key", sa.String(length=255), nullable=True),
        sa.Column("thumbnail_key", sa.String(length=255), nullable=True),
        sa.Column("source_asset_id", sa.String(length=32), nullable=True),
        sa.Column("root_asset_id", sa.String(length=32), nullable=True),
        sa.Column("conversation_id", sa.String(length=64), nullable=True),
        sa.Column("message_uid", sa.String(length=64), nullable=True),
        sa.Column("canvas_id", sa.String(length=64), nullable=True),
        sa.Column("node_id", sa.String(length=64), nullable=True),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_offset", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["source_asset_id"], ["assets.id"], name=op.f("fk_assets_source_asset_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assets")),
    )
    with op.batch_alter_table("assets", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_assets_conversation_id"), ["conversation_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_assets_owner"), ["owner"], unique=False)
        batch_op.create_index(batch_op.f("ix_assets_root_asset_id"), ["root_asset_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_assets_sha256"), ["sha256"], unique=False)

    op.create_table(
        "attempts",
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.Column("model", sa.String(length=128), nullable=False),
        sa.Column("ms", sa.Double(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("asset_ids", sa.JSON(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_offset", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_attempts_owner"), ["owner"], unique=False)
        batch_op.create_index(batch_op.f("ix_attempts_turn_id"), ["turn_id"], unique=False)

    op.create_table(
        "conversations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=50), nullable=False),
        sa.Column("device_id", sa.String(length=256), nullable=True),
        sa.Column("tz", sa.String(length=64), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_offset", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
    )
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_conversations_owner"), ["owner"], unique=False)
        batch_op.create_index(batch_op.f("ix_conversations_updated_at"), ["updated_at"], unique=False)

    op.create_table(
        "meta",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
    )
    op.create_table(
        "messages",
        sa.Column("conversation_id", sa.String(length=64), nullable=False),
        sa.Column("uid", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("asset_ids", sa.JSON(), nullable=False),
        sa.Column("tool_calls", sa.JSON(), nullable=True),
        sa.Column("tool_name", sa.String(length=64), nullable=True),
        sa.Column("error_type", sa.String(length=32), nullable=True),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_offset", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name=op.f("fk_messages_conversation_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sa.UniqueConstraint("conversation_id", "uid", name=op.f("uq_messages_conversation_id_uid")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_messages_conversation_id"), ["conversation_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_messages_owner"), ["owner"], unique=False)

    op.create_table(
        "photos",
        sa.Column("asset_id", sa.String(length=32), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("filename", sa.String(length=512), nullable=False),
        sa.Column("source_path", sa.Text(), nullable=True),
        sa.Column("source_type", sa.String(length=32), nullable=False),
        sa.Column("device_id", sa.String(length=256), nullable=False),
        sa.Column("device_name", sa.String(length=256), nullable=True),
        sa.Column("local_media_store_id", sa.String(length=128), nullable=True),
        sa.Column("captured_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("captured_offset", sa.Integer(), nullable=False),
        sa.Column("time_source", sa.String(length=16), nullable=False),
        sa.Column("dhash", sa.String(length=64), nullable=True),
        sa.Column("group_id", sa.Integer(), nullable=True),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_offset", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["asset_id"], ["assets.id"], name=op.f("fk_photos_asset_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photos")),
        sa.UniqueConstraint("asset_id", name=op.f("uq_photos_asset_id")),
        sa.UniqueConstraint("owner", "sha256", name=op.f("uq_photos_owner_sha256")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("photos", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photos_group_id"), ["group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_photos_owner"), ["owner"], unique=False)
        batch_op.create_index(batch_op.f("ix_photos_owner_captured_at"), ["owner", "captured_at"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_photos_owner_device_id_local_media_store_id"), ["owner", "device_id", "local_media_store_id"], unique=False
        )

    op.create_table(
        "analyses",
        sa.Column("photo_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("app_name", sa.String(length=128), nullable=False),
        sa.Column("content_category", sa.String(length=32), nullable=False),
        sa.Column("intent", sa.String(length=32), nullable=False),
        sa.Column("entities", sa.Text(), nullable=False),
        sa.Column("ocr_text", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("engine", sa.String(length=128), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("claimed_by", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_offset", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["photo_id"], ["photos.id"], name=op.f("fk_analyses_photo_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analyses")),
        sa.UniqueConstraint("photo_id", name=op.f("uq_analyses_photo_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("analyses", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_analyses_owner"), ["owner"], unique=False)
        batch_op.create_index(batch_op.f("ix_analyses_owner_status"), ["owner", "status"], unique=False)

    op.create_table(
        "photo_vectors",
        sa.Column("photo_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("model", sa.String(length=128), nullable=False),
        sa.Column("dim", sa.Integer(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_offset", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["photo_id"], ["photos.id"], name=op.f("fk_photo_vectors_photo_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("photo_id", name=op.f("pk_photo_vectors")),
    )
    with op.batch_alter_table("photo_vectors", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photo_vectors_owner"), ["owner"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("photo_vectors", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photo_vectors_owner"))

    op.drop_table("photo_vectors")
    with op.batch_alter_table("analyses", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_analyses_owner_status"))
        batch_op.drop_index(batch_op.f("ix_analyses_owner"))

    op.drop_table("analyses")
    with op.batch_alter_table("photos", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photos_owner_device_id_local_media_store_id"))
        batch_op.drop_index(batch_op.f("ix_photos_owner_captured_at"))
        batch_op.drop_index(batch_op.f("ix_photos_owner"))
        batch_op.drop_index(batch_op.f("ix_photos_group_id"))

    op.drop_table("photos")
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_messages_owner"))
        batch_op.drop_index(batch_op.f("ix_messages_conversation_id"))

    op.drop_table("messages")
    op.drop_table("meta")
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_conversations_updated_at"))
        batch_op.drop_index(batch_op.f("ix_conversations_owner"))

    op.drop_table("conversations")
    with op.batch_alter_table("attempts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_attempts_turn_id"))
        batch_op.drop_index(batch_op.f("ix_attempts_owner"))

    op.drop_table("attempts")
    with op.batch_alter_table("assets", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_assets_sha256"))
        batch_op.drop_index(batch_op.f("ix_assets_root_asset_id"))
        batch_op.drop_index(batch_op.f("ix_assets_owner"))
        batch_op.drop_index(batch_op.f("ix_assets_conversation_id"))

    op.drop_table("assets")
